import { concatBytes } from "@noble/hashes/utils";
import { decodeKey } from "./keys.ts";
import type { SolanaAccountMeta, SolanaInstruction } from "./instructions.ts";

/** A transaction has at most this many bytes, or no node takes it. */
export const transactionBytesMax = 1_232;

const accountsMax = 256;
const signatureBytes = 64;

export type SolanaMessage = {
  /** Signs first and pays the fees. */
  readonly feePayer: string;
  /** A recent one, in base58: the transaction expires with it. */
  readonly blockhash: string;
  readonly instructions: readonly SolanaInstruction[];
};

/** The bytes that are signed, and who signs them, in the order of the signatures. */
export type EncodedMessage = { readonly bytes: Uint8Array; readonly signers: readonly string[] };

/**
 * Encodes a message of the legacy version, which every wallet and node reads. Throws a RangeError for an address that
 * is none.
 */
export function encodeMessage({ feePayer, blockhash, instructions }: SolanaMessage): EncodedMessage {
  const metas = collectAccounts(feePayer, instructions);
  if (metas.length > accountsMax) throw new RangeError(`a message has at most ${accountsMax} accounts`);
  const indexes = new Map(metas.map(({ address }, index) => [address, index]));
  const signers = metas.filter(({ isSigner }) => isSigner);
  const header = [
    signers.length,
    signers.filter(({ isWritable }) => !isWritable).length,
    metas.filter(({ isSigner, isWritable }) => !isSigner && !isWritable).length,
  ];
  const indexOf = (address: string) => indexes.get(address) ?? 0;
  const bytes = concatBytes(
    Uint8Array.from(header),
    encodeLength(metas.length),
    ...metas.map(({ address }) => decodeKey("account", address)),
    decodeKey("blockhash", blockhash),
    encodeLength(instructions.length),
    ...instructions.flatMap(({ program, accounts, data }) => [
      Uint8Array.of(indexOf(program)),
      encodeLength(accounts.length),
      Uint8Array.from(accounts, ({ address }) => indexOf(address)),
      encodeLength(data.length),
      data,
    ]),
  );
  return { bytes, signers: signers.map(({ address }) => address) };
}

/** The transaction as nodes take it. Throws a RangeError when a signature is missing or the transaction is too long. */
export function encodeTransaction(message: EncodedMessage, signatures: ReadonlyMap<string, Uint8Array>): Uint8Array {
  const ordered = message.signers.map((address) => {
    const signature = signatures.get(address);
    if (signature?.length !== signatureBytes) throw new RangeError(`the signature of ${address} is missing`);
    return signature;
  });
  const bytes = concatBytes(encodeLength(ordered.length), ...ordered, message.bytes);
  if (bytes.length > transactionBytesMax)
    throw new RangeError(`the transaction has ${bytes.length} bytes; the maximum is ${transactionBytesMax}`);
  return bytes;
}

/**
 * Every account once, with all privileges that any instruction asks for: fee payer, signers, then the others; writable
 * ones first.
 */
function collectAccounts(feePayer: string, instructions: readonly SolanaInstruction[]): SolanaAccountMeta[] {
  const collected = new Map<string, SolanaAccountMeta>();
  const add = ({ address, isSigner, isWritable }: SolanaAccountMeta) => {
    const known = collected.get(address);
    const merged = {
      address,
      isSigner: isSigner || known?.isSigner === true,
      isWritable: isWritable || known?.isWritable === true,
    };
    collected.set(address, merged);
  };
  add({ address: feePayer, isSigner: true, isWritable: true });
  for (const { accounts } of instructions) accounts.forEach(add);
  for (const { program } of instructions) add({ address: program, isSigner: false, isWritable: false });
  const rank = ({ address, isSigner, isWritable }: SolanaAccountMeta) =>
    address === feePayer ? 0 : (isSigner ? 1 : 3) + (isWritable ? 0 : 1);
  return [...collected.values()].toSorted((one, other) => rank(one) - rank(other));
}

/** Seven bits a byte, the lowest first. */
function encodeLength(length: number): Uint8Array {
  const bytes: number[] = [];
  let rest = length;
  while (rest > 0x7f) {
    bytes.push((rest & 0x7f) | 0x80);
    rest >>= 7;
  }
  return Uint8Array.from([...bytes, rest]);
}
