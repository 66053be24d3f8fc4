import { zstdCompressSync } from "node:zlib";
import { encodeKey } from "@tributary/inbox/solana/keys";
import type { Account } from "litesvm/dist/internal.js";
import { encodeBase58 } from "@tributary/inbox/solana/base58";
import { formatTokenAmount, readMint, readTokenAccount } from "../ledger/tokenAccounts.ts";
import type { CallOptions } from "./params.ts";
import { readInteger } from "./params.ts";
import { RpcError } from "./rpcError.ts";

/** Accounts that are exempt from rent have this epoch. */
const RENT_EPOCH = 18_446_744_073_709_551_615n;
const BASE58_BYTES_MAX = 128;

export type ReadAccount = (key: string) => Account | null;

/** An account as nodes write it. */
export function encodeAccount(account: Account | null, options: CallOptions, read: ReadAccount): object | null {
  if (account === null) return null;
  return {
    data: encodeData(account, options, read),
    executable: account.executable(),
    lamports: account.lamports(),
    owner: encodeKey(account.owner()),
    rentEpoch: RENT_EPOCH,
    space: account.data().length,
  };
}

function encodeData(account: Account, options: CallOptions, read: ReadAccount): unknown {
  const { encoding } = options;
  if (encoding === "jsonParsed") {
    const parsed = parseToken(account, read);
    if (parsed !== undefined) return parsed;
  }
  const bytes = slice(Buffer.from(account.data()), options);
  if (encoding === undefined || encoding === null || encoding === "base58" || encoding === "binary") {
    if (bytes.length > BASE58_BYTES_MAX) {
      const words = "Encoded binary (base 58) data should be less than 128 bytes, please use Base64 encoding.";
      throw new RpcError("invalidRequest", words);
    }
    return encoding === "base58" ? [encodeBase58(bytes), "base58"] : encodeBase58(bytes);
  }
  if (encoding === "base64+zstd") return [zstdCompressSync(bytes).toString("base64"), encoding];
  if (encoding === "base64" || encoding === "jsonParsed") return [bytes.toString("base64"), "base64"];
  throw new RpcError("invalidParams", "Invalid params: unknown encoding");
}

function slice(data: Buffer, { dataSlice }: CallOptions): Buffer {
  if (dataSlice === undefined || dataSlice === null) return data;
  const { offset, length } = dataSlice as { offset: unknown; length: unknown };
  const from = readInteger(offset);
  return data.subarray(from, from + readInteger(length));
}

function parseToken(account: Account, read: ReadAccount): object | undefined {
  const space = account.data().length;
  const mint = readMint(account);
  if (mint !== undefined) {
    const info = { decimals: mint.decimals, isInitialized: true, supply: mint.supply.toString() };
    return { program: programName(mint.programId), parsed: { info, type: "mint" }, space };
  }
  const token = readTokenAccount(account);
  if (token === undefined) return undefined;
  const tokenAmount = formatTokenAmount(token.units, readMint(read(token.mint))?.decimals ?? 0);
  const info = { isNative: false, mint: token.mint, owner: token.owner, state: token.state, tokenAmount };
  return { program: programName(token.programId), parsed: { info, type: "account" }, space };
}

function programName(programId: string): string {
  return programId.startsWith("Tokenz") ? "spl-token-2022" : "spl-token";
}
