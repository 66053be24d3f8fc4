import { encodeKey } from "@tributary/inbox/solana/keys";
import { encodeBase58 } from "@tributary/inbox/solana/base58";
import {
  readMessageV1,
  toVersion0,
  VERSION_1_BYTE,
  type CompiledInstruction,
  type MessageHeader,
  type TransactionConfig,
} from "./transactionV1.ts";

// Reads the bytes of a transaction: signatures, then a message of the legacy version or of version 0, or a message of
// version 1 and then its signatures.

export type TableLookup = {
  readonly accountKey: string;
  readonly writableIndexes: readonly number[];
  readonly readonlyIndexes: readonly number[];
};
export type ParsedTransaction = {
  readonly wire: Uint8Array;
  /** The bytes that are signed. */
  readonly message: Uint8Array;
  /** The bytes for the engine, which knows the versions up to 0 only. */
  readonly engineWire: Uint8Array;
  readonly signatures: readonly string[];
  readonly version: "legacy" | 0 | 1;
  /** Of version 1. */
  readonly config?: TransactionConfig;
  readonly header: MessageHeader;
  readonly staticKeys: readonly string[];
  readonly recentBlockhash: string;
  readonly instructions: readonly CompiledInstruction[];
  readonly lookups: readonly TableLookup[];
};

export type ParsedMessage = Omit<ParsedTransaction, "wire" | "engineWire" | "message" | "signatures">;

export class MalformedTransaction extends Error {}

const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;
const VERSION_BIT = 0x80;

/** Throws a MalformedTransaction when the bytes are none. */
export function parseTransaction(wire: Uint8Array): ParsedTransaction {
  const reader = new Reader(wire);
  if (wire[0] === VERSION_1_BYTE) return parseVersion1(reader, wire);
  const signatures = reader.list(() => encodeBase58(reader.take(SIGNATURE_BYTES)));
  const start = reader.at;
  const message = parseMessage(reader);
  if (!reader.isAtEnd) throw new MalformedTransaction("bytes after the end");
  if (signatures.length === 0 || signatures.length !== message.header.numRequiredSignatures)
    throw new MalformedTransaction("wrong number of signatures");
  return { ...message, wire, engineWire: wire, message: wire.subarray(start), signatures };
}

function parseVersion1(reader: Reader, wire: Uint8Array): ParsedTransaction {
  const parsed = parseMessage(reader);
  const end = reader.at;
  const count = parsed.header.numRequiredSignatures;
  const bytes = Array.from({ length: count }, () => reader.take(SIGNATURE_BYTES));
  if (!reader.isAtEnd) throw new MalformedTransaction("bytes after the end");
  if (count === 0) throw new MalformedTransaction("wrong number of signatures");
  const signatures = bytes.map((each) => encodeBase58(each));
  const transaction = { ...parsed, wire, engineWire: wire, message: wire.subarray(0, end), signatures };
  return { ...transaction, engineWire: toVersion0(transaction, Buffer.concat(bytes)) };
}

/** The message alone, as wallets send it to learn its fee. */
export function parseMessageBytes(bytes: Uint8Array): ParsedMessage {
  return parseMessage(new Reader(bytes));
}

function parseMessage(reader: Reader): ParsedMessage {
  const first = reader.byte();
  if (first === VERSION_1_BYTE) return parseMessageV1(reader);
  const isVersioned = (first & VERSION_BIT) !== 0;
  if (isVersioned && first !== VERSION_BIT) throw new MalformedTransaction("unknown version");
  const header = {
    numRequiredSignatures: isVersioned ? reader.byte() : first,
    numReadonlySignedAccounts: reader.byte(),
    numReadonlyUnsignedAccounts: reader.byte(),
  };
  const key = () => encodeKey(reader.take(KEY_BYTES));
  const bytes = () => [...reader.take(reader.length())];
  const staticKeys = reader.list(key);
  const recentBlockhash = key();
  const instructions = reader.list(() => ({
    programIdIndex: reader.byte(),
    accounts: bytes(),
    data: Uint8Array.from(bytes()),
  }));
  const lookups = isVersioned
    ? reader.list(() => ({ accountKey: key(), writableIndexes: bytes(), readonlyIndexes: bytes() }))
    : [];
  if (staticKeys.length < header.numRequiredSignatures || new Set(staticKeys).size !== staticKeys.length)
    throw new MalformedTransaction("wrong account keys");
  return { version: isVersioned ? 0 : "legacy", header, staticKeys, recentBlockhash, instructions, lookups };
}

function parseMessageV1(reader: Reader): ParsedMessage {
  const message = readMessageV1(reader);
  if (message === undefined) throw new MalformedTransaction("a message that breaks the rules of version 1");
  const { header, staticKeys } = message;
  if (staticKeys.length < header.numRequiredSignatures || new Set(staticKeys).size !== staticKeys.length)
    throw new MalformedTransaction("wrong account keys");
  return { ...message, version: 1, lookups: [] };
}

/** Whether the message writes this account of its own list. */
export function isWritableKey({ header, staticKeys }: Pick<ParsedTransaction, "header" | "staticKeys">, index: number) {
  const { numRequiredSignatures, numReadonlySignedAccounts, numReadonlyUnsignedAccounts } = header;
  return index < numRequiredSignatures
    ? index < numRequiredSignatures - numReadonlySignedAccounts
    : index < staticKeys.length - numReadonlyUnsignedAccounts;
}

class Reader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get at(): number {
    return this.#at;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  byte(): number {
    const byte = this.#bytes[this.#at];
    if (byte === undefined) throw new MalformedTransaction("the bytes end too early");
    this.#at += 1;
    return byte;
  }

  take(length: number): Uint8Array {
    if (this.#at + length > this.#bytes.length) throw new MalformedTransaction("the bytes end too early");
    this.#at += length;
    return this.#bytes.slice(this.#at - length, this.#at);
  }

  /** Seven bits a byte, the lowest first; at most 16 bits. */
  length(): number {
    let value = 0;
    for (let shift = 0; shift <= 14; shift += 7) {
      const byte = this.byte();
      value |= (byte & 0x7f) << shift;
      if (byte < VERSION_BIT) return value;
    }
    throw new MalformedTransaction("a length is too long");
  }

  list<Item>(read: () => Item): Item[] {
    return Array.from({ length: this.length() }, read);
  }
}
