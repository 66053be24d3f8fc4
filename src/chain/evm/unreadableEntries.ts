import { ProviderFailed, type TransactionProof } from "../reader.ts";
import type { UnreadableEntry, UnreadableVerdict } from "../unreadable/unreadableEntry.ts";
import type { JsonRpcClient, RpcCall } from "../rpc/jsonRpcClient.ts";
import { RpcError } from "../rpc/rpcError.ts";
import type { BridgeContracts } from "./bridge/provenCrossings.ts";
import { parseTransfers, transferFilters } from "./filter/parseTransfers.ts";
import { parseProof } from "./rpc/parseBlock.ts";
import { toReceiptCall } from "./rpc/calls.ts";
import { collectUnreadable, namesIn, readLogKey, type LogOfToken } from "./unreadableLogs.ts";

// What stands inside a block and cannot be parsed: a receipt, named by its transaction, or a log of one, named with its
// token.

/**
 * `answers` in the order of `chainTxs`. Throws ProviderFailed `unreadable` with the receipts of these transactions that
 * cannot be parsed.
 */
export function parseProofs(
  answers: readonly unknown[],
  chainTxs: readonly string[],
  bridge: BridgeContracts | undefined,
): TransactionProof[] {
  const collected = collectUnreadable();
  const proofs = answers.flatMap((answer, index) => {
    const chainTx = chainTxs[index] ?? "";
    return answer === null ? [] : (readReceipt(answer, { chainTx, bridge, unreadable: collected.add }) ?? []);
  });
  collected.throwIfAny();
  return proofs;
}

type ReceiptReading = {
  chainTx: string;
  bridge: BridgeContracts | undefined;
  unreadable: (entry: UnreadableEntry) => void;
};

function readReceipt(answer: unknown, { chainTx, bridge, unreadable }: ReceiptReading): TransactionProof | undefined {
  try {
    const proof = parseProof(answer, chainTx, bridge);
    // Its logs are parsed when they are needed; what cannot be must show now.
    proof.transfers?.();
    proof.crossings?.();
    return proof;
  } catch (error) {
    // A receipt of another transaction is a wrong answer, whatever it holds.
    if (!isMalformed(error) || !isReceiptOf(answer, chainTx)) throw error;
    unreadable({
      key: chainTx,
      kind: "transaction",
      chainTx,
      blockNumber: blockNumberOf(answer),
      place: undefined,
      reason: error.message,
      names: namesIn(answer),
      namesProgram: false,
    });
    return undefined;
  }
}

/** What the provider has of these entries now. */
export async function recheckEntries(
  rpc: JsonRpcClient,
  entries: readonly UnreadableEntry[],
  bridge: BridgeContracts | undefined,
): Promise<ReadonlyMap<string, UnreadableVerdict>> {
  const answers = await rpc.requestEach(entries.map(toCall));
  return new Map(
    entries.flatMap((entry, index): [string, UnreadableVerdict][] => {
      const answer = answers[index];
      return answer instanceof RpcError ? [] : [[entry.key, judge(entry, answer, bridge)]];
    }),
  );
}

function toCall({ key, chainTx = "", blockNumber = 0n }: UnreadableEntry): RpcCall {
  const log = readLogKey(key);
  if (log === undefined) return toReceiptCall(chainTx);
  const [filter] = transferFilters({ fromBlock: blockNumber, toBlock: blockNumber }, log.tokens);
  return ["eth_getLogs", [filter]];
}

function judge(entry: UnreadableEntry, answer: unknown, bridge: BridgeContracts | undefined): UnreadableVerdict {
  if (answer === null) return { state: "unknown" };
  const log = readLogKey(entry.key);
  if (log !== undefined) return judgeLogs(entry, log, answer);
  const reasons: UnreadableEntry[] = [];
  const { chainTx = "" } = entry;
  readReceipt(answer, { chainTx, bridge, unreadable: (each) => void reasons.push(each) });
  return toVerdict(reasons);
}

/**
 * A list without the log says that the provider does not have it; one in which all is readable, that it is readable.
 */
function judgeLogs({ key, blockNumber = 0n }: UnreadableEntry, log: LogOfToken, answer: unknown): UnreadableVerdict {
  const all = Array.isArray(answer) ? (answer as unknown[]) : [];
  const own = "chainTx" in log ? all.filter((each) => isLogOf(each, log.chainTx)) : all;
  if (own.length === 0) return { state: "unknown" };
  try {
    parseTransfers(own, { fromBlock: blockNumber, toBlock: blockNumber }, log.tokens);
  } catch (error) {
    if (!(error instanceof ProviderFailed) || error.kind !== "unreadable") throw error;
    return toVerdict(error.unreadable.filter((each) => each.key === key));
  }
  return { state: "readable" };
}

function toVerdict([first]: readonly UnreadableEntry[]): UnreadableVerdict {
  return first === undefined ? { state: "readable" } : { state: "unreadable", reason: first.reason };
}

function isMalformed(error: unknown): error is ProviderFailed {
  return error instanceof ProviderFailed && error.kind === "bad_answer";
}

function isReceiptOf(answer: unknown, chainTx: string): boolean {
  return isLogOf(answer, chainTx);
}

function isLogOf(value: unknown, chainTx: string): boolean {
  const named: unknown =
    typeof value === "object" && value !== null ? Reflect.get(value, "transactionHash") : undefined;
  return typeof named === "string" && named.toLowerCase() === chainTx;
}

function blockNumberOf(receipt: unknown): bigint | undefined {
  const number: unknown = Reflect.get(Object(receipt), "blockNumber");
  return typeof number === "string" && /^0x[0-9a-f]{1,15}$/i.test(number) ? BigInt(number) : undefined;
}
