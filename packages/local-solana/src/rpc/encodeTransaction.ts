import type { Block, Ledger } from "../ledger/ledger.ts";
import { encodeBase58 } from "@tributary/inbox/solana/base58";
import type { Balances, LandedTransaction } from "../ledger/executedTransaction.ts";
import { formatTokenAmount } from "../ledger/tokenAccounts.ts";
import type { CompiledInstruction } from "../ledger/transactionV1.ts";
import { readInteger, type CallOptions } from "./params.ts";
import { RpcError } from "./rpcError.ts";

/**
 * A transaction with what it did, as nodes write it. Throws an RpcError for a version that the caller did not allow.
 */
export function encodeLanded(landed: LandedTransaction, options: CallOptions): object {
  const version = encodeVersion(landed, options);
  const meta = landed.isResultLost === true ? null : encodeMeta(landed);
  return { transaction: encodeWire(landed, options), meta, ...version };
}

/** Without the message, as `transactionDetails: "accounts"` asks for it. */
export function encodeWithAccounts(landed: LandedTransaction, options: CallOptions): object {
  const version = encodeVersion(landed, options);
  const { signatures } = landed.parsed;
  const { err, status, fee, ...meta } = encodeMeta(landed);
  const { preBalances, postBalances, preTokenBalances, postTokenBalances } = meta;
  const balances = { preBalances, postBalances, preTokenBalances, postTokenBalances };
  return {
    transaction: { accountKeys: describeKeys(landed), signatures },
    meta: { err, status, fee, ...balances },
    ...version,
  };
}

/**
 * Callers that name no version get transactions of the legacy version only, and are not told the version. Others name
 * the highest one.
 */
function encodeVersion({ version }: LandedTransaction, { maxSupportedTransactionVersion: max }: CallOptions): object {
  const allowed = max === undefined || max === null ? undefined : readInteger(max);
  if (version === "legacy") return allowed === undefined ? {} : { version };
  if (allowed !== undefined && version <= allowed) return { version };
  const words = `Transaction version (${version}) is not supported by the requesting client. Please try the request again with the following configuration parameter: "maxSupportedTransactionVersion": ${version}`;
  throw new RpcError("unsupportedTransactionVersion", words);
}

function encodeWire(landed: LandedTransaction, { encoding }: CallOptions): unknown {
  const { parsed, keys } = landed;
  if (encoding === "base64") return [Buffer.from(parsed.wire).toString("base64"), "base64"];
  if (encoding === "base58") return [encodeBase58(parsed.wire), "base58"];
  const { signatures, header, recentBlockhash, lookups, staticKeys } = parsed;
  const tables =
    parsed.version === 0
      ? { addressTableLookups: lookups }
      : parsed.config === undefined
        ? {}
        : { transactionConfig: parsed.config };
  if (encoding === "jsonParsed") {
    const instructions = parsed.instructions.map(({ programIdIndex, accounts, data }) => ({
      programId: keys[programIdIndex],
      accounts: accounts.map((index) => keys[index]),
      data: encodeBase58(data),
      stackHeight: 1,
    }));
    return { signatures, message: { accountKeys: describeKeys(landed), instructions, recentBlockhash, ...tables } };
  }
  const instructions = parsed.instructions.map((each) => encodeInstruction(each, 1));
  return { signatures, message: { accountKeys: staticKeys, header, instructions, recentBlockhash, ...tables } };
}

export function encodeInstruction({ programIdIndex, accounts, data }: CompiledInstruction, stackHeight: number) {
  return { programIdIndex, accounts, data: encodeBase58(data), stackHeight };
}

function describeKeys({ keys, writableKeys, parsed }: LandedTransaction) {
  const writable = new Set(writableKeys);
  return keys.map((pubkey, index) => ({
    pubkey,
    signer: index < parsed.header.numRequiredSignatures,
    source: index < parsed.staticKeys.length ? "transaction" : "lookupTable",
    writable: writable.has(pubkey),
  }));
}

function encodeMeta(landed: LandedTransaction) {
  const { error, before, after, loaded, returnData } = landed;
  return {
    err: error,
    status: encodeStatus(error),
    fee: landed.fee,
    preBalances: before.lamports,
    postBalances: after.lamports,
    preTokenBalances: encodeTokens(before),
    postTokenBalances: encodeTokens(after),
    innerInstructions: landed.inner.map(({ index, instructions }) => ({
      index,
      instructions: instructions.map((each) => encodeInstruction(each, each.stackHeight)),
    })),
    logMessages: landed.logs,
    loadedAddresses: loaded,
    rewards: [],
    computeUnitsConsumed: landed.computeUnits,
    ...(returnData === null ? {} : { returnData: encodeReturnData(returnData) }),
  };
}

export function encodeStatus(error: unknown): object {
  return error === null ? { Ok: null } : { Err: error };
}

export function encodeReturnData({ programId, data }: { programId: string; data: Uint8Array }): object {
  return { programId, data: [Buffer.from(data).toString("base64"), "base64"] };
}

function encodeTokens({ tokens }: Balances): object[] {
  return tokens.map(({ accountIndex, mint, owner, programId, units, decimals }) => ({
    accountIndex,
    mint,
    owner,
    programId,
    uiTokenAmount: formatTokenAmount(units, decimals),
  }));
}

/** The time of a block as nodes tell it; null where they have not kept it. */
export function encodeTime({ areTimesLost }: Ledger, { time }: Block): number | null {
  return areTimesLost ? null : time;
}
