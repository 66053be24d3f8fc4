import { transactionBytesMax } from "@tributary/inbox/solana/message";
import type { Outcome } from "../ledger/executedTransaction.ts";
import { feeOf, findRefusal, hasValidSignatures, simulateTransaction } from "../ledger/execute.ts";
import type { Simulation } from "../ledger/execute.ts";
import type { Commitment, Ledger } from "../ledger/ledger.ts";
import { MalformedTransaction, parseMessageBytes, parseTransaction } from "../ledger/transaction.ts";
import type { ParsedTransaction } from "../ledger/transaction.ts";
import { BYTES_MAX_V1, VERSION_1_BYTE } from "../ledger/transactionV1.ts";
import type { TransactionPool } from "../ledger/transactionPool.ts";
import { describeTransactionError } from "../ledger/transactionErrors.ts";
import { encodeAccount } from "./encodeAccount.ts";
import { encodeInstruction, encodeReturnData } from "./encodeTransaction.ts";
import type { Methods } from "./methods.ts";
import {
  parseBase58,
  readBlock,
  readCommitment,
  readKey,
  readList,
  readOptions,
  readText,
  withContext,
} from "./params.ts";
import type { CallOptions } from "./params.ts";
import { RpcError } from "./rpcError.ts";

const TYPE = "solana_transaction::versioned::VersionedTransaction";
const ACCOUNTS_MAX = 64;

export type SendMethodOptions = {
  readonly pool: TransactionPool;
  /** Sends lamports of the faucet; returns the signature. */
  readonly airdrop: (to: string, lamports: bigint) => string;
};

export function sendMethods(ledger: Ledger, { pool, airdrop }: SendMethodOptions): Methods {
  return {
    sendTransaction: ([text, given]) => {
      const options = readOptions(given);
      const parsed = readTransaction(text, options);
      if (options["skipPreflight"] !== true) {
        const commitment = readCommitment(options["preflightCommitment"]);
        readBlock(ledger, { ...options, commitment });
        preflight(ledger, parsed, commitment);
      }
      pool.submit(parsed);
      return parsed.signatures[0];
    },
    simulateTransaction: ([text, given]) => {
      const options = readOptions(given);
      const parsed = readTransaction(text, options);
      const block = readBlock(ledger, options);
      const [isSigverified, isReplaced] = [options["sigVerify"] === true, options["replaceRecentBlockhash"] === true];
      if (isSigverified && isReplaced)
        throw new RpcError("invalidParams", "sigVerify may not be used with replaceRecentBlockhash");
      if (isSigverified) verifySignatures(parsed);
      const refusal = isReplaced ? undefined : findRefusal(ledger, parsed, block);
      const at = readCommitment(options["commitment"]);
      const result =
        refusal === undefined ? simulateTransaction(ledger, parsed, { at, isSigverified }) : refuse(refusal);
      const replacementBlockhash = isReplaced ? ledger.latestHash(block) : null;
      const accounts = encodeChangedAccounts(ledger, result, options);
      const inner = options["innerInstructions"] === true ? encodeInner(result) : null;
      return withContext(block, { ...encodeOutcome(result), accounts, innerInstructions: inner, replacementBlockhash });
    },
    getFeeForMessage: ([message, given]) => {
      const block = readBlock(ledger, readOptions(given));
      const parsed = readMessage(message);
      return withContext(block, ledger.isHashValid(parsed.recentBlockhash, block) ? feeOf(parsed) : null);
    },
    requestAirdrop: ([key, lamports]) => {
      if (typeof lamports !== "number" || !Number.isInteger(lamports) || lamports <= 0)
        throw new RpcError("invalidParams", "Invalid params: expected u64");
      return airdrop(readKey(key), BigInt(lamports));
    },
  };
}

/** Throws an RpcError when the transaction would fail on the state of the level. */
function preflight(ledger: Ledger, parsed: ParsedTransaction, at: Commitment): void {
  verifySignatures(parsed);
  const refusal = findRefusal(ledger, parsed, ledger.head(at));
  const result =
    refusal === undefined ? simulateTransaction(ledger, parsed, { at, isSigverified: true }) : refuse(refusal);
  if (result.error === null) return;
  const data = { ...encodeOutcome(result), accounts: null, innerInstructions: null, replacementBlockhash: null };
  throw new RpcError(
    "preflightFailure",
    `Transaction simulation failed: ${describeTransactionError(result.error)}`,
    data,
  );
}

function verifySignatures(parsed: ParsedTransaction): void {
  if (!hasValidSignatures(parsed)) throw new RpcError("signatureFailure", "Transaction signature verification failure");
}

function refuse(error: string): Simulation {
  return { error, logs: [], computeUnits: 0n, returnData: null, inner: [], accounts: new Map() };
}

function encodeOutcome({ error, logs, computeUnits, returnData }: Outcome) {
  const returned = returnData === null ? null : encodeReturnData(returnData);
  return { err: error, logs, unitsConsumed: computeUnits, returnData: returned };
}

function encodeInner({ inner }: Outcome): object[] {
  return inner.map(({ index, instructions }) => ({
    index,
    instructions: instructions.map((each) => encodeInstruction(each, each.stackHeight)),
  }));
}

/** The accounts that the caller asks for, as the transaction would leave them; null unless it asks. */
function encodeChangedAccounts(ledger: Ledger, { accounts, error }: Simulation, options: CallOptions): unknown {
  const wanted = options["accounts"];
  if (wanted === undefined || wanted === null) return null;
  const { addresses, encoding = "base64" } = readOptions(wanted);
  const block = readBlock(ledger, options);
  const read = (key: string) => accounts.get(key) ?? ledger.accountAt(key, block);
  return readList(addresses, ACCOUNTS_MAX).map((each) =>
    error === null ? encodeAccount(read(readKey(each)), { encoding }, read) : null,
  );
}

function readTransaction(value: unknown, { encoding = "base58" }: CallOptions): ParsedTransaction {
  const text = readText(value);
  const bytes = encoding === "base64" ? decodeBase64(text) : parseBase58(text);
  if (bytes === undefined) throw new RpcError("invalidParams", `invalid ${String(encoding)} encoding`);
  const max = bytes[0] === VERSION_1_BYTE ? BYTES_MAX_V1 : transactionBytesMax;
  if (bytes.length > max) {
    const words = `decoded ${TYPE} too large: ${bytes.length} bytes (max: ${max} bytes)`;
    throw new RpcError("invalidParams", words);
  }
  try {
    return parseTransaction(bytes);
  } catch (error) {
    if (!(error instanceof MalformedTransaction)) throw error;
    throw new RpcError("invalidParams", `failed to deserialize ${TYPE}: ${error.message}`);
  }
}

function readMessage(value: unknown): ReturnType<typeof parseMessageBytes> {
  const bytes = decodeBase64(readText(value));
  if (bytes === undefined) throw new RpcError("invalidParams", "invalid base64 encoding");
  try {
    return parseMessageBytes(bytes);
  } catch (error) {
    if (!(error instanceof MalformedTransaction)) throw error;
    throw new RpcError("invalidParams", `failed to deserialize message: ${error.message}`);
  }
}

function decodeBase64(text: string): Uint8Array | undefined {
  return /^[A-Za-z0-9+/]*={0,2}$/.test(text) ? new Uint8Array(Buffer.from(text, "base64")) : undefined;
}
