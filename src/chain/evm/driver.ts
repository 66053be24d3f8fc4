import { caip2, type Caip2 } from "../../kernel/caip.ts";
import {
  ProviderFailed,
  type BlockRange,
  type BlockRef,
  type ChainCall,
  type ChainDriver,
  type ChainReceipt,
  type FeeQuote,
  type HeadTag,
  type Identity,
  type ReceiptPosition,
  type SiftedTransfers,
  type Sieve,
  type SubmitOutcome,
  type Transfer,
  type TransferScope,
} from "../driver.ts";
import { mayHoldTransfer } from "./bloom.ts";
import { failureOf, submitOutcomeOf } from "./failures.ts";
import { bytes, list, quantity, smallQuantity, toHex } from "./hex.ts";
import { readBlock, readPosition, readReceipt } from "./read.ts";
import { Rpc, type RpcBytes, type RpcCall } from "./rpc.ts";
import { siftLogs } from "./siftLogs.ts";
import { readTransfers, transferFilters } from "./transfers.ts";
import { readReceiptTransfers, type BlockAnswers } from "./transfersOfReceipts.ts";

const TIMEOUT_MS = 10_000;
/** The logs of a long range can be a hundred megabytes. */
const LOGS_TIMEOUT_MS = 60_000;
const CONNECTIONS_MAX = 8;

const BALANCE_OF = "0x70a08231";
const DECIMALS = "0x313ce567";

export type EvmDriverOptions = {
  caip2: Caip2;
  rpcUrl: string;
  /** For every request but those for logs, which may take at least a minute. */
  timeoutMs?: number;
};

/** Opens one provider of an EVM chain. Nothing is asked before the first call, so a provider that is down opens as well. */
export function openEvmDriver(options: EvmDriverOptions): EvmDriver {
  return new EvmDriver(options);
}

/** One provider of an EVM chain over JSON-RPC. Every error is CallReverted or ProviderFailed. */
export class EvmDriver implements ChainDriver {
  readonly caip2: Caip2;
  readonly name: string;
  readonly #rpc: Rpc;
  readonly #logsTimeoutMs: number;

  constructor({ caip2, rpcUrl, timeoutMs = TIMEOUT_MS }: EvmDriverOptions) {
    this.caip2 = caip2;
    this.#rpc = new Rpc({ url: rpcUrl, timeoutMs, connectionsMax: CONNECTIONS_MAX });
    this.name = this.#rpc.host;
    this.#logsTimeoutMs = Math.max(timeoutMs, LOGS_TIMEOUT_MS);
  }

  async identify(): Promise<Identity> {
    const [chainId, genesis] = await this.#askAll([
      ["eth_chainId", []],
      ["eth_getBlockByNumber", ["0x0", false]],
    ]);
    const { hash } = readBlock(genesis);
    return { caip2: caip2("eip155", quantity(chainId, "a chain id").toString()), genesisHash: hash };
  }

  async head(tag: HeadTag): Promise<BlockRef> {
    const answer = await this.#ask("eth_getBlockByNumber", [tag, false]);
    if (answer === null) throw new ProviderFailed("unknown_block", `${this.name} knows no ${tag} block`);
    return readBlock(answer);
  }

  async block(at: { number: bigint } | { hash: string }): Promise<BlockRef | undefined> {
    const answer =
      "hash" in at
        ? await this.#ask("eth_getBlockByHash", [at.hash, false])
        : await this.#ask("eth_getBlockByNumber", [toHex(at.number), false]);
    return answer === null ? undefined : this.#blockAt(at, answer);
  }

  async transfers(scope: TransferScope, tokens: readonly string[], parties?: readonly string[]): Promise<Transfer[]> {
    if (tokens.length === 0) return [];
    try {
      return await this.#transfersIn(scope, tokens, parties);
    } catch (error) {
      if (!isRefusedBlock(scope, error)) throw error;
      return this.#transfersOfBlock(scope, tokens, parties);
    }
  }

  mayHold({ logsDigest }: BlockRef, tokens: readonly string[]): boolean {
    return logsDigest !== undefined && tokens.some((token) => mayHoldTransfer(logsDigest, token));
  }

  async sift(range: BlockRange, tokens: readonly string[], sieve: Sieve): Promise<SiftedTransfers> {
    if (tokens.length === 0) return { transfers: [], logCount: 0, endHash: undefined };
    const answer = await this.#asked(() =>
      this.#rpc.askBytes("eth_getLogs", transferFilters(range, tokens), this.#logsTimeoutMs),
    );
    await sieve.refresh();
    const sifted = answer.status === 200 ? siftLogs(answer.bytes, { ...range, tokens, sieve }) : undefined;
    if (sifted) return sifted;
    const transfers = await this.#transfersTold(range, { tokens, sieve, answer });
    const endHash = transfers.findLast(({ blockNumber }) => blockNumber === range.toBlock)?.blockHash;
    return { transfers, logCount: transfers.length, endHash };
  }

  async positions(chainTxs: readonly string[]): Promise<ReceiptPosition[]> {
    return positionsIn(await this.#askAll(chainTxs.map(receiptCall)), chainTxs);
  }

  async blockWithPositions(
    number: bigint,
    chainTxs: readonly string[],
  ): Promise<{ block: BlockRef | undefined; positions: ReceiptPosition[] }> {
    const calls: RpcCall[] = [["eth_getBlockByNumber", [toHex(number), false]], ...chainTxs.map(receiptCall)];
    const [answer, ...receipts] = await this.#askAll(calls);
    const block = answer === null ? undefined : this.#blockAt({ number }, answer);
    return { block, positions: positionsIn(receipts, chainTxs) };
  }

  async receipt(chainTx: string): Promise<ChainReceipt | undefined> {
    const answer = await this.#ask("eth_getTransactionReceipt", [chainTx]);
    return answer === null ? undefined : readReceipt(answer, chainTx);
  }

  async balances(token: string, owners: readonly string[], at: { blockNumber: bigint }): Promise<bigint[]> {
    const block = toHex(at.blockNumber);
    const calls = owners.map((owner): RpcCall => [
      "eth_call",
      [{ to: token, data: `${BALANCE_OF}${owner.slice(2).padStart(64, "0")}` }, block],
    ]);
    return (await this.#askAll(calls)).map((answer) => quantity(answer, "a balance"));
  }

  async tokenDecimals(token: string): Promise<number> {
    return smallQuantity(await this.call({ to: token, data: DECIMALS }), "a token's decimals");
  }

  async hasCode(address: string): Promise<boolean> {
    return bytes(await this.#ask("eth_getCode", [address, "latest"]), "code") !== "0x";
  }

  async nonce(address: string): Promise<bigint> {
    return quantity(await this.#ask("eth_getTransactionCount", [address, "latest"]), "a nonce");
  }

  async nativeBalance(address: string): Promise<bigint> {
    return quantity(await this.#ask("eth_getBalance", [address, "latest"]), "a balance");
  }

  async fees(): Promise<FeeQuote> {
    const [tip, history] = await this.#askAll([
      ["eth_maxPriorityFeePerGas", []],
      ["eth_feeHistory", ["0x1", "latest", []]],
    ]);
    return feeQuoteOf(quantity(tip, "a priority fee"), history);
  }

  async estimateGas(call: ChainCall): Promise<bigint> {
    return quantity(await this.#ask("eth_estimateGas", [call]), "an amount of gas");
  }

  async call(call: ChainCall): Promise<string> {
    return bytes(await this.#ask("eth_call", [call, "latest"]), "returned bytes");
  }

  async submit(rawTransaction: string): Promise<SubmitOutcome> {
    try {
      await this.#rpc.ask("eth_sendRawTransaction", [rawTransaction]);
      return { kind: "accepted" };
    } catch (error) {
      return submitOutcomeOf(error);
    }
  }

  /** Closes the sockets to the provider; calls under way fail. */
  async close(): Promise<void> {
    await this.#rpc.close();
  }

  async #transfersIn(
    scope: TransferScope,
    tokens: readonly string[],
    parties: readonly string[] | undefined,
  ): Promise<Transfer[]> {
    const filters = transferFilters(scope, tokens, parties);
    const answers = await Promise.all(filters.map((filter) => this.#ask("eth_getLogs", [filter], this.#logsTimeoutMs)));
    const [transfers, ...more] = answers.map((answer) => readTransfers(answer, scope, tokens));
    return more.length === 0 ? (transfers ?? []) : distinct([...(transfers ?? []), ...more.flat()]);
  }

  async #transfersTold(
    range: BlockRange,
    { tokens, sieve, answer }: { tokens: readonly string[]; sieve: Sieve; answer: RpcBytes },
  ): Promise<Transfer[]> {
    try {
      const logs = await this.#asked(async () => this.#rpc.resultIn("eth_getLogs", answer));
      return readTransfers(logs, range, tokens);
    } catch (error) {
      if (!isRefusedBlock(range, error)) throw error;
      const transfers = await this.#transfersOfBlock(range, tokens);
      // These answers are newer than the one before which the sieve was last brought up to date.
      await sieve.refresh();
      return transfers;
    }
  }

  /**
   * One block that holds more logs than the provider tells of at once has no smaller part than the logs of one token. Where that is too much
   * as well, all receipts of the block hold them: a limit on logs does not count there.
   */
  async #transfersOfBlock(
    scope: TransferScope,
    tokens: readonly string[],
    parties?: readonly string[],
  ): Promise<Transfer[]> {
    if (tokens.length > 1) {
      try {
        const parts = await Promise.all(tokens.map((token) => this.#transfersIn(scope, [token], parties)));
        return ofOneBlock(parts.flat());
      } catch (error) {
        if (!isRefusedBlock(scope, error)) throw error;
      }
    }
    const answers = await ofWhole(() => this.#blockAndReceipts(scope));
    const transfers = readReceiptTransfers(answers, scope, tokens);
    return parties ? transfers.filter(({ from, to }) => parties.includes(from) || parties.includes(to)) : transfers;
  }

  /** Receipts are asked for by the block's number, since not every provider takes a hash there; whose they are they say themselves. */
  async #blockAndReceipts(scope: TransferScope): Promise<BlockAnswers> {
    const block =
      "blockHash" in scope
        ? await this.#ask("eth_getBlockByHash", [scope.blockHash, false])
        : await this.#ask("eth_getBlockByNumber", [toHex(scope.fromBlock), false]);
    if (block === null) throw new ProviderFailed("unknown_block", `${this.name} lacks a block whose logs it refused`);
    const { number } = readBlock(block);
    const receipts = await this.#ask("eth_getBlockReceipts", [toHex(number)], this.#logsTimeoutMs);
    if (receipts === null) throw new ProviderFailed("unknown_block", `${this.name} lacks block ${number}`);
    return { block, receipts };
  }

  #blockAt(at: { number: bigint } | { hash: string }, answer: unknown): BlockRef {
    const block = readBlock(answer);
    const isAsked = "hash" in at ? block.hash === at.hash : block.number === at.number;
    if (!isAsked)
      throw new ProviderFailed("bad_answer", `${this.name} answered with another block than the one asked for`);
    return block;
  }

  async #ask(method: string, params: readonly unknown[], timeoutMs?: number): Promise<unknown> {
    return this.#asked(() => this.#rpc.ask(method, params, timeoutMs));
  }

  async #askAll(calls: readonly RpcCall[]): Promise<unknown[]> {
    return this.#asked(() => this.#rpc.askAll(calls));
  }

  async #asked<T>(asking: () => Promise<T>): Promise<T> {
    try {
      return await asking();
    } catch (error) {
      throw failureOf(this.name, error);
    }
  }
}

function receiptCall(chainTx: string): RpcCall {
  return ["eth_getTransactionReceipt", [chainTx]];
}

/** `answers` in the order of `chainTxs`. */
function positionsIn(answers: readonly unknown[], chainTxs: readonly string[]): ReceiptPosition[] {
  return answers.flatMap((answer, index) => {
    const position = answer === null ? undefined : readPosition(answer, chainTxs[index] ?? "");
    return position ? [position] : [];
  });
}

function isRefusedBlock(scope: TransferScope, error: unknown): error is ProviderFailed {
  const isOneBlock = "blockHash" in scope || scope.fromBlock === scope.toBlock;
  return isOneBlock && isTooLarge(error);
}

function isTooLarge(error: unknown): error is ProviderFailed {
  return error instanceof ProviderFailed && error.kind === "range_too_large";
}

/** Nothing is left to be asked for in parts: who refuses that as too much is asked later, and another one now. */
async function ofWhole<T>(asking: () => Promise<T>): Promise<T> {
  try {
    return await asking();
  } catch (error) {
    if (!isTooLarge(error)) throw error;
    throw new ProviderFailed("timeout", error.message, { cause: error });
  }
}

/** The parts of a block that was asked for by its number may come from before and after it was replaced. */
function ofOneBlock(transfers: Transfer[]): Transfer[] {
  if (new Set(transfers.map(({ blockHash }) => blockHash)).size <= 1) return transfers;
  throw new ProviderFailed("unknown_block", "a block was replaced while its parts were read");
}

/** A transfer between two of the parties asked for answers both filters. */
function distinct(transfers: readonly Transfer[]): Transfer[] {
  return [...new Map(transfers.map((transfer) => [`${transfer.blockHash}/${transfer.logIndex}`, transfer])).values()];
}

/**
 * Head-room for the base fee to double, which takes at least six full blocks: a transaction that waits that long is better
 * replaced than waited for.
 */
function feeQuoteOf(tip: bigint, history: unknown): FeeQuote {
  const fees = list(Reflect.get(Object(history), "baseFeePerGas"), "base fees");
  // The last of them is the next block's, which is the one that counts.
  const baseFee = quantity(fees.at(-1), "a base fee");
  return { maxFeePerGas: 2n * baseFee + tip, maxPriorityFeePerGas: tip };
}
