import { decodeKey, encodeKey } from "@tributary/inbox/solana/keys";

// Transactions of version 1: the message comes first, names its fee and limits itself, and has no lookup tables. The
// engine of this chain runs versions up to 0, so the same message is also written as one of version 0.

export const VERSION_1_BYTE = 0x81;
export const BYTES_MAX_V1 = 4_096;
const ADDRESSES_MAX = 64;
const INSTRUCTIONS_MAX = 64;
const KEY_BYTES = 32;
/** The priority fee takes two words of the configuration, and both bits. */
const CONFIG_NAMES = ["computeUnitLimit", "loadedAccountsDataSizeLimit", "heapSize"] as const;
const PRIORITY_FEE_BITS = 0b11;

export type MessageHeader = {
  readonly numRequiredSignatures: number;
  readonly numReadonlySignedAccounts: number;
  readonly numReadonlyUnsignedAccounts: number;
};
export type CompiledInstruction = {
  readonly programIdIndex: number;
  readonly accounts: readonly number[];
  readonly data: Uint8Array;
};

/** As nodes write it; null for what the message does not set. */
export type TransactionConfig = Readonly<Record<(typeof CONFIG_NAMES)[number] | "priorityFee", number | null>>;

export type MessageV1 = {
  header: MessageHeader;
  config: TransactionConfig;
  recentBlockhash: string;
  staticKeys: readonly string[];
  instructions: readonly CompiledInstruction[];
};

/** What reads the bytes, after the byte of the version. */
export type MessageReader = { byte(): number; take(length: number): Uint8Array };

/** Undefined when the bytes break a rule of the version. */
export function readMessageV1(reader: MessageReader): MessageV1 | undefined {
  const [numRequiredSignatures, numReadonlySignedAccounts, numReadonlyUnsignedAccounts] = [
    reader.byte(),
    reader.byte(),
    reader.byte(),
  ];
  const header = { numRequiredSignatures, numReadonlySignedAccounts, numReadonlyUnsignedAccounts };
  const mask = readNumber(reader, 4);
  const recentBlockhash = encodeKey(reader.take(KEY_BYTES));
  const [instructionCount, addressCount] = [reader.byte(), reader.byte()];
  const isOneOfTwo = (mask & PRIORITY_FEE_BITS) !== 0 && (mask & PRIORITY_FEE_BITS) !== PRIORITY_FEE_BITS;
  if (instructionCount > INSTRUCTIONS_MAX || addressCount > ADDRESSES_MAX || mask >= 32 || isOneOfTwo) return undefined;
  const staticKeys = Array.from({ length: addressCount }, () => encodeKey(reader.take(KEY_BYTES)));
  const config = readConfig(reader, mask);
  const heads = Array.from({ length: instructionCount }, () => ({
    programIdIndex: reader.byte(),
    accountCount: reader.byte(),
    dataBytes: readNumber(reader, 2),
  }));
  const instructions = heads.map(({ programIdIndex, accountCount, dataBytes }) => ({
    programIdIndex,
    accounts: [...reader.take(accountCount)],
    data: reader.take(dataBytes),
  }));
  return { header, config, recentBlockhash, staticKeys, instructions };
}

function readConfig(reader: MessageReader, mask: number): TransactionConfig {
  const priorityFee = (mask & PRIORITY_FEE_BITS) === 0 ? null : readNumber(reader, 8);
  const values = CONFIG_NAMES.map((name, index) => {
    const isSet = (mask & (1 << (index + 2))) !== 0;
    return [name, isSet ? readNumber(reader, 4) : null] as const;
  });
  return { ...Object.fromEntries(values), priorityFee } as TransactionConfig;
}

function readNumber(reader: MessageReader, bytes: number): number {
  const value = Buffer.from(reader.take(bytes));
  return bytes === 8 ? Number(value.readBigUInt64LE()) : value.readUIntLE(0, bytes);
}

/**
 * The same message as a transaction of version 0, for the engine. Its signatures sign the other bytes, so they are not
 * verified there.
 */
export function toVersion0(message: Omit<MessageV1, "config">, signatures: Uint8Array): Uint8Array {
  const { header, staticKeys, recentBlockhash, instructions } = message;
  const { numRequiredSignatures, numReadonlySignedAccounts, numReadonlyUnsignedAccounts } = header;
  return Buffer.concat([
    Uint8Array.of(numRequiredSignatures),
    signatures,
    Uint8Array.of(0x80, numRequiredSignatures, numReadonlySignedAccounts, numReadonlyUnsignedAccounts),
    compactLength(staticKeys.length),
    ...staticKeys.map((key) => decodeKey("account", key)),
    decodeKey("blockhash", recentBlockhash),
    compactLength(instructions.length),
    ...instructions.flatMap(({ programIdIndex, accounts, data }) => [
      Uint8Array.of(programIdIndex),
      compactLength(accounts.length),
      Uint8Array.from(accounts),
      compactLength(data.length),
      data,
    ]),
    Uint8Array.of(0),
  ]);
}

function compactLength(length: number): Uint8Array {
  return length < 0x80 ? Uint8Array.of(length) : Uint8Array.of((length & 0x7f) | 0x80, length >> 7);
}
