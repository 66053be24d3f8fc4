import { ProviderFailed, type ProvenTransfer, type Transfer, type TransferScope } from "../../reader.ts";
import type { UnreadableEntry } from "../../unreadable/unreadableEntry.ts";
import { toHex } from "../rpc/rpcValues.ts";
import { collectUnreadable, logKey, namesIn } from "../unreadableLogs.ts";

// The hot path: a busy token has hundreds of transfers per block, few of them ours. Values are compared as text and
// converted only when needed. Malformed logs are rejected, because skipping them would lose transfers silently.

/** keccak256("Transfer(address,address,uint256)") */
export const TRANSFER_TOPIC = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
/** An indexed address is a 32-byte word: twelve zero bytes, then the address. */
export const ADDRESS_PADDING = "0x000000000000000000000000";
const WORD_LENGTH = 66;
const WORD = /^0x[0-9a-f]{64}$/i;
const QUANTITY = /^0x[0-9a-f]{1,16}$/i;
/** The database's limits for log indexes and block numbers; it would refuse larger ones without naming the provider. */
const INDEX_MAX = 2 ** 31 - 1;
const BLOCK_NUMBER_MAX = 2n ** 63n - 1n;

export type LogFilter = Record<string, unknown>;

/**
 * The eth_getLogs parameters for every Transfer of `tokens` in `scope`. `parties` makes two filters: from one of them,
 * and to one of them.
 */
export function transferFilters(
  scope: TransferScope,
  tokens: readonly string[],
  parties?: readonly string[],
): LogFilter[] {
  const where =
    "blockHash" in scope
      ? { blockHash: scope.blockHash }
      : { fromBlock: toHex(scope.fromBlock), toBlock: toHex(scope.toBlock) };
  if (!parties) return [{ ...where, address: tokens, topics: [TRANSFER_TOPIC] }];
  const words = parties.map((party) => ADDRESS_PADDING + party.slice(2));
  return [
    { ...where, address: tokens, topics: [TRANSFER_TOPIC, words] },
    { ...where, address: tokens, topics: [TRANSFER_TOPIC, null, words] },
  ];
}

/**
 * A log in the answer of a range does not tell its block. In a range of one block the request tells it: see
 * `readInParts`.
 */
export class LogWithoutBlock extends ProviderFailed {
  constructor(what: string) {
    super("bad_answer", `the provider's answer of a range holds ${what}`);
  }
}

/**
 * Parses the transfers of an eth_getLogs answer. Skips logs with the topic but without the shape of an ERC-20 transfer
 * (ERC-721 has a fourth topic). Throws ProviderFailed when the answer holds a log outside the query, LogWithoutBlock
 * when the block of one is unknown, and `unreadable` with those that cannot be parsed.
 */
export function parseTransfers(answer: unknown, scope: TransferScope, tokens: readonly string[]): Transfer[] {
  if (!Array.isArray(answer)) throw invalidLogs("no list of logs");
  const { skipped } = scope;
  const unreadable = collectUnreadable();
  const reader = new LogParser(scope, tokens);
  const transfers: Transfer[] = [];
  // The answer is unverified; each field is checked before use.
  for (const log of answer as readonly Log[]) {
    const placed = reader.place(log);
    // A transaction whose receipt cannot be parsed is left out as a whole.
    if (placed.chainTx !== undefined && skipped?.has(placed.chainTx) === true) continue;
    if (!isPlaced(placed)) {
      if (placed.key !== undefined && skipped?.has(placed.key) === true) continue;
      throw new LogWithoutBlock(placed.unreadable);
    }
    const transfer = "unreadable" in placed ? placed : reader.parse(placed);
    if (transfer === undefined) continue;
    if (!("unreadable" in transfer)) transfers.push(transfer);
    else if (skipped?.has(transfer.key) !== true) unreadable.add(toEntry(log, placed, transfer));
  }
  unreadable.throwIfAny();
  return transfers;
}

/** A log of the query, with what names it. */
type PlacedLog = {
  log: NonNullable<Log>;
  token: string;
  chainTx: string;
  blockNumber: bigint;
  blockHash: string;
};

/** A log that does not say where it stands, at least not in a form that this release knows. */
type UnplacedLog = UnreadableLog & { chainTx: string | undefined; blockNumber: bigint };

/** The same where nothing tells its block. */
type LostLog = { chainTx: string | undefined; blockNumber: undefined; key: string | undefined; unreadable: string };

function isPlaced(log: PlacedLog | UnplacedLog | LostLog): log is PlacedLog | UnplacedLog {
  return log.blockNumber !== undefined;
}

function toEntry(
  log: Log,
  { chainTx, blockNumber }: Pick<PlacedLog, "blockNumber"> & { chainTx: string | undefined },
  { key, unreadable: reason }: UnreadableLog,
): UnreadableEntry {
  const index = parseLogIndex(log?.logIndex);
  const place = index === undefined ? undefined : BigInt(index);
  return { key, kind: "log", chainTx, blockNumber, place, reason, names: namesIn(log), namesProgram: false };
}

type UnreadableLog = { key: string; unreadable: string };

const ADDRESS = /^0x[0-9a-f]{40}$/i;

/** Parses the ERC-20 transfers of any token in a receipt's logs. Throws ProviderFailed when a log is malformed. */
export function parseProvenTransfers(logs: readonly unknown[]): ProvenTransfer[] {
  return (logs as readonly Log[]).flatMap((log) => {
    if (typeof log !== "object" || log === null) throw invalidLogs("an entry that is no log");
    if (!Array.isArray(log.topics)) throw invalidLogs("a log without topics or data");
    if (log.topics[0] !== TRANSFER_TOPIC) return [];
    const words = parseTransferFields(log);
    if (!words) return [];
    const logIndex = parseLogIndex(log.logIndex);
    if (logIndex === undefined) throw invalidLogs("a log without its index");
    if (typeof log.address !== "string" || !ADDRESS.test(log.address)) throw invalidLogs("a log without its contract");
    return { token: log.address.toLowerCase(), ...words, place: BigInt(logIndex) };
  });
}

type Log = {
  address?: unknown;
  topics?: unknown;
  data?: unknown;
  blockNumber?: unknown;
  blockHash?: unknown;
  transactionHash?: unknown;
  logIndex?: unknown;
  removed?: unknown;
} | null;

class LogParser {
  readonly #scope: TransferScope;
  readonly #asked: readonly string[];
  readonly #tokens: ReadonlySet<string>;
  /** Logs are ordered by block, so the last block's cache serves nearly every log. */
  #blockHex = "";
  #blockNumber = -1n;
  readonly #blockHashes = new Map<string, string>();

  constructor(scope: TransferScope, tokens: readonly string[]) {
    this.#scope = scope;
    this.#asked = tokens;
    this.#tokens = new Set(tokens);
  }

  /** Throws ProviderFailed where the log is not of the query. */
  place(log: Log): PlacedLog | UnplacedLog | LostLog {
    if (typeof log !== "object" || log === null) return this.#unplaced({}, "an entry that is no log");
    if (log.removed === true) throw invalidLogs("a log that was removed from its chain");
    const [blockHash, chainTx] = [normalizeWord(log.blockHash), normalizeWord(log.transactionHash)];
    if (blockHash === undefined || chainTx === undefined)
      return this.#unplaced(log, "a log without its block or its transaction");
    if (typeof log.address !== "string") return this.#unplaced(log, "a log without its contract");
    const token = this.#parseToken(log.address);
    if (typeof log.blockNumber !== "string" || !isBlockNumber(log.blockNumber))
      return this.#unplaced(log, "a log without a block number");
    const blockNumber = this.#parseBlockNumber(log.blockNumber, blockHash);
    return { log, token, chainTx, blockNumber, blockHash };
  }

  #unplaced(log: NonNullable<Log>, unreadable: string): UnplacedLog | LostLog {
    const chainTx = normalizeWord(log.transactionHash);
    const blockNumber = this.#findBlockNumber(log.blockNumber);
    const tokens = typeof log.address === "string" ? [this.#parseToken(log.address)] : this.#asked;
    const key = chainTx === undefined ? undefined : logKey({ chainTx, tokens });
    if (blockNumber === undefined) return { key, unreadable, chainTx, blockNumber };
    return { key: key ?? logKey({ blockNumber, tokens }), unreadable, chainTx, blockNumber };
  }

  /** The block of a log by the query, else by the log itself. */
  #findBlockNumber(hex: unknown): bigint | undefined {
    if ("blockHash" in this.#scope) return this.#scope.blockNumber;
    const { fromBlock, toBlock } = this.#scope;
    if (fromBlock === toBlock) return fromBlock;
    if (typeof hex !== "string" || !isBlockNumber(hex)) return undefined;
    const number = BigInt(hex);
    if (number < fromBlock || number > toBlock) throw invalidLogs("a log of a block outside the range");
    return number;
  }

  /** Undefined where the log is no transfer. */
  parse({ log, ...placed }: PlacedLog): Transfer | UnreadableLog | undefined {
    const { topics, data } = log;
    if (Array.isArray(topics) && typeof data === "string" && topics[0] !== TRANSFER_TOPIC)
      throw invalidLogs("a log of another event");
    try {
      const words = parseTransferFields(log);
      if (!words) return undefined;
      const logIndex = parseLogIndex(log.logIndex);
      if (logIndex === undefined) throw invalidLogs("a log without its index");
      return { ...placed, ...words, place: BigInt(logIndex) };
    } catch (error) {
      if (!(error instanceof ProviderFailed)) throw error;
      return { key: logKey({ chainTx: placed.chainTx, tokens: [placed.token] }), unreadable: error.message };
    }
  }

  #parseToken(address: string): string {
    if (this.#tokens.has(address)) return address;
    const stored = address.toLowerCase();
    if (this.#tokens.has(stored)) return stored;
    throw invalidLogs("a log of another contract");
  }

  #parseBlockNumber(hex: string, blockHash: string): bigint {
    if (hex !== this.#blockHex) {
      this.#blockHex = hex;
      this.#blockNumber = BigInt(hex);
      this.#assertInScope();
    }
    const known = this.#blockHashes.get(hex);
    if (known === undefined) this.#blockHashes.set(hex, blockHash);
    else if (known !== blockHash) throw invalidLogs("logs of two blocks with one number");
    if ("blockHash" in this.#scope && blockHash !== this.#scope.blockHash) throw invalidLogs("a log of another block");
    return this.#blockNumber;
  }

  #assertInScope(): void {
    if ("blockHash" in this.#scope) return;
    const { fromBlock, toBlock } = this.#scope;
    if (this.#blockNumber < fromBlock || this.#blockNumber > toBlock)
      throw invalidLogs("a log of a block outside the range");
  }
}

function isBlockNumber(hex: string): boolean {
  return QUANTITY.test(hex) && BigInt(hex) <= BLOCK_NUMBER_MAX;
}

function parseTransferFields(log: NonNullable<Log>): { from: string; to: string; amountText: string } | undefined {
  const { topics, data } = log;
  if (!Array.isArray(topics) || typeof data !== "string") throw invalidLogs("a log without topics or data");
  if (topics[0] !== TRANSFER_TOPIC) throw invalidLogs("a log of another event");
  if (topics.length !== 3 || data.length !== WORD_LENGTH) return undefined;
  const [from, to, amountText] = [normalizeWord(topics[1]), normalizeWord(topics[2]), normalizeWord(data)];
  if (from === undefined || to === undefined) throw invalidLogs("a topic that is no word");
  if (amountText === undefined) throw invalidLogs("an amount that is no number");
  if (!from.startsWith(ADDRESS_PADDING) || !to.startsWith(ADDRESS_PADDING)) return undefined;
  return { from: `0x${from.slice(26)}`, to: `0x${to.slice(26)}`, amountText };
}

/** Normalizes 32 bytes of hex to stored form; undefined when malformed. */
export function normalizeWord(value: unknown): string | undefined {
  return typeof value === "string" && WORD.test(value) ? value.toLowerCase() : undefined;
}

/** Parses a log's index in its block; undefined when malformed or too large to store. */
export function parseLogIndex(hex: unknown): number | undefined {
  if (typeof hex !== "string" || !QUANTITY.test(hex)) return undefined;
  const index = Number(hex);
  return index > INDEX_MAX ? undefined : index;
}

function invalidLogs(what: string): ProviderFailed {
  return new ProviderFailed("bad_answer", `the provider's answer of logs holds ${what}`);
}
