import { encodeKey } from "@tributary/inbox/solana/keys";
import type { SolanaAccountMeta, SolanaInstruction } from "@tributary/inbox/solana/instructions";

const KEY_BYTES = 32;

export type DecodedMessage = {
  /** Every account whose signature the message requires; the first one pays. */
  readonly signers: readonly string[];
  readonly instructions: readonly SolanaInstruction[];
};

/** Decodes a message of the legacy version. Throws a RangeError for anything else, and for bytes that are left. */
export function decodeMessage(bytes: Uint8Array): DecodedMessage {
  const cursor = new Cursor(bytes);
  const [signerCount, readonlySigners, readonlyOthers] = [cursor.byte(), cursor.byte(), cursor.byte()];
  if (signerCount >= 0x80) throw new RangeError("the message is not of the legacy version");
  const keys = cursor.list(() => encodeKey(cursor.take(KEY_BYTES)));
  cursor.take(KEY_BYTES);
  const metas = keys.map((address, index): SolanaAccountMeta => {
    const isSigner = index < signerCount;
    const isWritable = index < (isSigner ? signerCount - readonlySigners : keys.length - readonlyOthers);
    return { address, isSigner, isWritable };
  });
  const at = (index: number) => {
    const meta = metas[index];
    if (meta === undefined) throw new RangeError("the message names an account that it does not have");
    return meta;
  };
  const instructions = cursor.list((): SolanaInstruction => {
    const program = at(cursor.byte()).address;
    const accounts = cursor.list(() => at(cursor.byte()));
    return { program, accounts, data: cursor.take(cursor.length()) };
  });
  cursor.end();
  return { signers: keys.slice(0, signerCount), instructions };
}

class Cursor {
  readonly #bytes: Uint8Array;
  #offset = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  take(count: number): Uint8Array {
    const taken = this.#bytes.slice(this.#offset, this.#offset + count);
    if (taken.length !== count) throw new RangeError("the message ends too early");
    this.#offset += count;
    return taken;
  }

  byte(): number {
    const [byte = 0] = this.take(1);
    return byte;
  }

  /** Seven bits a byte, the lowest first. */
  length(): number {
    let value = 0;
    for (let shift = 0; shift <= 14; shift += 7) {
      const byte = this.byte();
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw new RangeError("a length of the message is too long");
  }

  list<Item>(read: () => Item): Item[] {
    return Array.from({ length: this.length() }, read);
  }

  end(): void {
    if (this.#offset !== this.#bytes.length) throw new RangeError("the message has bytes after its end");
  }
}
