import { readDecimals, readSymbol } from "./tokenDetails.ts";
import { zeroAddress } from "@tributary/inbox/terms";
import { caip2, type Caip2 } from "../../kernel/caip.ts";
import {
  ProviderFailed,
  type BlockId,
  type BlockPlace,
  type BlockRange,
  type BlockRef,
  type HeadTag,
  type ChainIdentity,
  type TransactionProof,
  type FilteredTransfers,
  type AddressFilter,
  type BlocksWithTransfers,
  type Skipping,
  type Transfer,
  type TransferScope,
} from "../reader.ts";
import {
  CallReverted,
  type EvmCall,
  type SimulatedCall,
  type EvmNode,
  type EvmReceipt,
  type FeeQuote,
  type SubmitOutcome,
} from "./node.ts";
import type { BridgeContracts } from "./bridge/provenCrossings.ts";
import { mayContainTransfer } from "./filter/logsBloom.ts";
import { toProviderError, toSubmitOutcome } from "./rpc/rpcErrors.ts";
import { Feature, unlessRefused } from "../rpc/feature.ts";
import { parseObject } from "../rpc/jsonValues.ts";
import { parseBytes, parseQuantity, toHex } from "./rpc/rpcValues.ts";
import { FEE_HISTORY_BLOCKS, FEE_HISTORY_PERCENTILE, toFeeQuote } from "./rpc/parseFees.ts";
import { toBlockCall, toCallParameter, toReceiptCall } from "./rpc/calls.ts";
import { requestBlocks } from "./rpc/blockCalls.ts";
import { parseBlock, parseExpectedBlock, parseReceipt } from "./rpc/parseBlock.ts";
import { JsonRpcClient, type RawResponse, type RpcCall } from "../rpc/jsonRpcClient.ts";
import { RpcError } from "../rpc/rpcError.ts";
import { readRangeOfBlocks, type RangeRequest } from "./rangeOfBlocks.ts";
import type { UnreadableEntry, UnreadableVerdict } from "../unreadable/unreadableEntry.ts";
import { parseProofs, recheckEntries } from "./unreadableEntries.ts";
import { BUNDLED_OWNERS_MAX, bundledBalanceCall, parseBundledBalances } from "./bundledBalances.ts";
import { filterLogs } from "./filter/filterLogs.ts";
import {
  assertSameBlock,
  dedupeTransfers,
  failOverIfTooLarge,
  fetchSingleReceipts,
  isBlockTooLarge,
  isRangeTooLarge,
} from "./filter/largeBlocks.ts";
import { LogWithoutBlock, parseTransfers, transferFilters } from "./filter/parseTransfers.ts";
import { readInParts } from "./filter/readInParts.ts";
import { parseReceiptTransfers, type BlockWithReceipts } from "./filter/parseReceiptTransfers.ts";

const TIMEOUT_MS = 10_000;
/** The logs of a long range can have a hundred megabytes. */
const LOGS_TIMEOUT_MS = 60_000;
const CONNECTIONS_MAX = 8;

const BALANCE_OF = "0x70a08231";

export type EvmNodeOptions = {
  caip2: Caip2;
  rpcUrl: string;
  /** Limit in milliseconds for every request except logs, which get at least a minute. */
  timeoutMs?: number;
  /** The bridge contracts of the chain; absent where no bridge is used. */
  bridge?: BridgeContracts | undefined;
  /** Whether a header's bloom may belong to other blocks. */
  hasForeignBloom?: boolean | undefined;
};

/** Opens one provider of an EVM chain. Makes no request, so an unreachable provider does not matter. */
export function openEvmNode(options: EvmNodeOptions): JsonRpcNode {
  return new JsonRpcNode(options);
}

/** One provider of an EVM chain over JSON-RPC. Every error is CallReverted or ProviderFailed. */
export class JsonRpcNode implements EvmNode {
  readonly caip2: Caip2;
  readonly name: string;
  readonly #rpc: JsonRpcClient;
  readonly mintSender: string | undefined;
  readonly #logsTimeoutMs: number;
  readonly #bridge: BridgeContracts | undefined;
  readonly #hasForeignBloom: boolean;
  /** Whether the provider takes a call without a recipient, lists a block's receipts, and takes logs in a batch. */
  readonly #bundles = new Feature();
  readonly #blockReceipts = new Feature();
  readonly #batchedLogs = new Feature();

  constructor({ caip2, rpcUrl, timeoutMs = TIMEOUT_MS, bridge, hasForeignBloom = false }: EvmNodeOptions) {
    this.caip2 = caip2;
    this.#rpc = new JsonRpcClient({ url: rpcUrl, timeoutMs, connectionsMax: CONNECTIONS_MAX });
    this.name = this.#rpc.host;
    this.#logsTimeoutMs = Math.max(timeoutMs, LOGS_TIMEOUT_MS);
    this.#bridge = bridge;
    this.#hasForeignBloom = hasForeignBloom;
    this.mintSender = bridge && zeroAddress;
  }

  async identify(): Promise<ChainIdentity> {
    // A batch would fail as a whole on a node that has pruned its first block, or that keeps it for who pays.
    const genesisBlock = unlessRefused(this.block({ number: 0n }));
    const [chainId, genesis] = await Promise.all([this.#request("eth_chainId", []), genesisBlock]);
    return { caip2: caip2("eip155", parseQuantity(chainId, "a chain id").toString()), genesisHash: genesis?.hash };
  }

  async head(tag: HeadTag): Promise<BlockRef> {
    const answer = await this.#request("eth_getBlockByNumber", [tag, false]);
    if (answer === null) throw new ProviderFailed("unknown_block", `${this.name} knows no ${tag} block`);
    return parseBlock(answer);
  }

  async blocksAt(places: readonly BlockPlace[]): Promise<(BlockRef | undefined)[]> {
    return this.#mapErrors(() => requestBlocks(this.#rpc, places));
  }

  async block(at: { number: bigint } | { hash: string }): Promise<BlockRef | undefined> {
    try {
      const answer = await this.#request(...toBlockCall(at));
      return answer === null ? undefined : parseExpectedBlock(this.name, at, answer);
    } catch (error) {
      // Nodes that prune answer so for an old block, where others answer with null.
      if (error instanceof ProviderFailed && error.kind === "unknown_block") return undefined;
      throw error;
    }
  }

  async transfers(scope: TransferScope, tokens: readonly string[], parties?: readonly string[]): Promise<Transfer[]> {
    if (tokens.length === 0) return [];
    try {
      return await this.#transfers(scope, tokens, parties);
    } catch (error) {
      if (!(error instanceof LogWithoutBlock) || "blockHash" in scope) throw error;
      return readInParts(scope, (part) => this.#transfers({ ...scope, ...part }, tokens, parties));
    }
  }

  async #transfers(scope: TransferScope, tokens: readonly string[], parties?: readonly string[]): Promise<Transfer[]> {
    try {
      return await this.#fetchTransfers(scope, tokens, parties);
    } catch (error) {
      if (!isBlockTooLarge(scope, error)) throw error;
      return this.#fetchBlockTransfersInParts(scope, tokens, parties);
    }
  }

  async recheckTransfers(block: BlockId, tokens: readonly string[]): Promise<Transfer[]> {
    const answers = await failOverIfTooLarge(() => this.#fetchBlockWithReceipts(block));
    return parseReceiptTransfers(answers, block, tokens);
  }

  async blocksWithTransfers(
    range: Omit<RangeRequest, "tokens">,
    tokens: readonly string[],
  ): Promise<BlocksWithTransfers | undefined> {
    if (tokens.length === 0) return undefined;
    try {
      return await this.#batchedLogs.use(() =>
        this.#mapErrors(() => readRangeOfBlocks(this.#rpc, { ...range, tokens })),
      );
    } catch (error) {
      // The limits of a range are wider than those of a block.
      if (isRangeTooLarge(error)) return undefined;
      throw error;
    }
  }

  mayContainTransfers({ digest }: BlockRef, tokens: readonly string[]): boolean {
    if (this.#hasForeignBloom) return false;
    return digest !== undefined && tokens.some((token) => mayContainTransfer(digest, token));
  }

  async filterTransfers(
    range: BlockRange & Skipping,
    tokens: readonly string[],
    filter: AddressFilter,
  ): Promise<FilteredTransfers> {
    if (tokens.length === 0) return { transfers: [], scannedCount: 0, lastBlockHash: undefined };
    const answer = await this.#mapErrors(() =>
      this.#rpc.requestRaw("eth_getLogs", transferFilters(range, tokens), this.#logsTimeoutMs),
    );
    await filter.refresh();
    const filtered = answer.status === 200 ? filterLogs(answer.bytes, { ...range, tokens, filter }) : undefined;
    const { skipped } = range;
    if (filtered && skipped)
      return { ...filtered, transfers: filtered.transfers.filter(({ chainTx }) => !skipped.has(chainTx)) };
    if (filtered) return filtered;
    const transfers = await this.#transfersFromResponse(range, { tokens, filter, answer });
    const lastBlockHash = transfers.findLast(({ blockNumber }) => blockNumber === range.toBlock)?.blockHash;
    return { transfers, scannedCount: transfers.length, lastBlockHash };
  }

  async proofs(chainTxs: readonly string[]): Promise<TransactionProof[]> {
    return parseProofs(await this.#requestAll(chainTxs.map(toReceiptCall)), chainTxs, this.#bridge);
  }

  async blocksWithProofs(
    numbers: readonly bigint[],
    chainTxs: readonly string[],
  ): Promise<{ blocks: (BlockRef | undefined)[]; proofs: TransactionProof[] }> {
    const headers = numbers.map((number): RpcCall => ["eth_getBlockByNumber", [toHex(number), false]]);
    const answers = await this.#requestAll([...headers, ...chainTxs.map(toReceiptCall)]);
    const blocks = numbers.map((number, index) => {
      const answer = answers[index];
      return answer === null ? undefined : parseExpectedBlock(this.name, { number }, answer);
    });
    return { blocks, proofs: parseProofs(answers.slice(numbers.length), chainTxs, this.#bridge) };
  }

  async recheckUnreadable(entries: readonly UnreadableEntry[]): Promise<ReadonlyMap<string, UnreadableVerdict>> {
    return this.#mapErrors(() => recheckEntries(this.#rpc, entries, this.#bridge));
  }

  async receipt(chainTx: string): Promise<EvmReceipt | undefined> {
    const answer = await this.#request("eth_getTransactionReceipt", [chainTx]);
    return answer === null ? undefined : parseReceipt(answer, chainTx);
  }

  async balances(token: string, owners: readonly string[], at: { blockNumber: bigint }): Promise<bigint[]> {
    const block = toHex(at.blockNumber);
    const balances: bigint[] = [];
    while (balances.length < owners.length) {
      const part = owners.slice(balances.length, balances.length + BUNDLED_OWNERS_MAX);
      balances.push(
        ...((await this.#bundledBalances(token, part, block)) ?? (await this.#balances(token, part, block))),
      );
    }
    return balances;
  }

  tokenDecimals(token: string): Promise<number | undefined> {
    return readDecimals(this, token);
  }

  tokenSymbol(token: string): Promise<string | undefined> {
    return readSymbol(this, token);
  }

  async hasCode(address: string): Promise<boolean> {
    return parseBytes(await this.#request("eth_getCode", [address, "latest"]), "code") !== "0x";
  }

  async nonce(address: string): Promise<bigint> {
    return parseQuantity(await this.#request("eth_getTransactionCount", [address, "latest"]), "a nonce");
  }

  async nativeBalance(address: string): Promise<bigint> {
    return parseQuantity(await this.#request("eth_getBalance", [address, "latest"]), "a balance");
  }

  async fees(): Promise<FeeQuote> {
    return this.#mapErrors(async () => {
      const [tip, history] = await this.#rpc.requestEach([
        ["eth_maxPriorityFeePerGas", []],
        ["eth_feeHistory", [toHex(FEE_HISTORY_BLOCKS), "latest", [FEE_HISTORY_PERCENTILE]]],
      ]);
      if (history instanceof RpcError) throw history;
      // Not every provider has the first method; the tips of recent blocks then stand for its answer.
      return toFeeQuote(tip instanceof RpcError ? undefined : parseQuantity(tip, "a priority fee"), history);
    });
  }

  async blockGasLimit(): Promise<bigint> {
    const block = parseObject(await this.#request("eth_getBlockByNumber", ["latest", false]), "a block");
    return parseQuantity(block["gasLimit"], "a gas limit");
  }

  async estimateGas(call: EvmCall): Promise<bigint> {
    return parseQuantity(await this.#request("eth_estimateGas", [toCallParameter(call), "latest"]), "an amount of gas");
  }

  async call(call: SimulatedCall): Promise<string> {
    return parseBytes(await this.#request("eth_call", [toCallParameter(call), "latest"]), "returned bytes");
  }

  async submit(rawTransaction: string): Promise<SubmitOutcome> {
    try {
      await this.#rpc.request("eth_sendRawTransaction", [rawTransaction]);
      return { kind: "accepted" };
    } catch (error) {
      return toSubmitOutcome(error);
    }
  }

  /** Closes the sockets; pending calls fail. */
  async close(): Promise<void> {
    await this.#rpc.close();
  }

  async #balances(token: string, owners: readonly string[], block: string): Promise<bigint[]> {
    const calls = owners.map((owner): RpcCall => [
      "eth_call",
      [{ to: token, data: `${BALANCE_OF}${owner.slice(2).padStart(64, "0")}` }, block],
    ]);
    return (await this.#requestAll(calls)).map((answer) => parseQuantity(answer, "a balance"));
  }

  /** Reads the balances in one call; undefined where the provider or the token does not allow that. */
  async #bundledBalances(token: string, owners: readonly string[], block: string): Promise<bigint[] | undefined> {
    if (owners.length < 2) return undefined;
    return this.#bundles.use(async () => {
      try {
        const answer = await this.#request("eth_call", [{ data: bundledBalanceCall(token, owners) }, block]);
        return parseBundledBalances(answer, owners.length);
      } catch (error) {
        if (error instanceof CallReverted) return undefined;
        throw error;
      }
    });
  }

  async #fetchTransfers(
    scope: TransferScope,
    tokens: readonly string[],
    parties: readonly string[] | undefined,
  ): Promise<Transfer[]> {
    const filters = transferFilters(scope, tokens, parties);
    const answers = await Promise.all(
      filters.map((filter) => this.#request("eth_getLogs", [filter], this.#logsTimeoutMs)),
    );
    const [transfers, ...more] = answers.map((answer) => parseTransfers(answer, scope, tokens));
    return more.length === 0 ? (transfers ?? []) : dedupeTransfers([...(transfers ?? []), ...more.flat()]);
  }

  async #transfersFromResponse(
    range: BlockRange & Skipping,
    { tokens, filter, answer }: { tokens: readonly string[]; filter: AddressFilter; answer: RawResponse },
  ): Promise<Transfer[]> {
    try {
      const logs = await this.#mapErrors(async () => this.#rpc.parseResult("eth_getLogs", answer));
      return parseTransfers(logs, range, tokens);
    } catch (error) {
      if (!(error instanceof LogWithoutBlock) && !isBlockTooLarge(range, error)) throw error;
      const transfers = await (error instanceof LogWithoutBlock
        ? readInParts(range, (part) => this.#transfers({ ...range, ...part }, tokens))
        : this.#fetchBlockTransfersInParts(range, tokens));
      // These answers are newer than the last refresh of the filter.
      await filter.refresh();
      return transfers;
    }
  }

  /**
   * Splits a block with more logs than the provider's limit by token. Where one token exceeds the limit too, reads all
   * receipts of the block, which no limit on logs affects.
   */
  async #fetchBlockTransfersInParts(
    scope: TransferScope,
    tokens: readonly string[],
    parties?: readonly string[],
  ): Promise<Transfer[]> {
    if (tokens.length > 1) {
      try {
        const parts = await Promise.all(tokens.map((token) => this.#fetchTransfers(scope, [token], parties)));
        return assertSameBlock(parts.flat());
      } catch (error) {
        if (!isBlockTooLarge(scope, error)) throw error;
      }
    }
    const answers = await failOverIfTooLarge(() => this.#fetchBlockWithReceipts(scope));
    const transfers = parseReceiptTransfers(answers, scope, tokens);
    return parties ? transfers.filter(({ from, to }) => parties.includes(from) || parties.includes(to)) : transfers;
  }

  /** Requests receipts by block number, because not every provider takes a hash; each receipt names its block. */
  async #fetchBlockWithReceipts(scope: TransferScope): Promise<BlockWithReceipts> {
    const at = "blockHash" in scope ? { hash: scope.blockHash } : { number: scope.fromBlock };
    const block = await this.#request(...toBlockCall(at));
    if (block === null)
      throw new ProviderFailed("unknown_block", `${this.name} does not have a block whose logs it refused`);
    const { number } = parseBlock(block);
    const receipts =
      (await this.#blockReceipts.use(() =>
        this.#request("eth_getBlockReceipts", [toHex(number)], this.#logsTimeoutMs),
      )) ?? (await fetchSingleReceipts(this.name, block, (calls) => this.#requestAll(calls)));
    if (receipts === null) throw new ProviderFailed("unknown_block", `${this.name} does not have block ${number}`);
    return { block, receipts };
  }

  async #request(method: string, params: readonly unknown[], timeoutMs?: number): Promise<unknown> {
    return this.#mapErrors(() => this.#rpc.request(method, params, timeoutMs));
  }

  async #requestAll(calls: readonly RpcCall[]): Promise<unknown[]> {
    return this.#mapErrors(() => this.#rpc.requestAll(calls));
  }

  async #mapErrors<T>(request: () => Promise<T>): Promise<T> {
    try {
      return await request();
    } catch (error) {
      throw toProviderError(this.name, error);
    }
  }
}
