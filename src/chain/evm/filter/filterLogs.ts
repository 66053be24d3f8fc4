import type { BlockRange, FilteredTransfers, AddressFilter, Transfer } from "../../reader.ts";
import { ADDRESS_PADDING, parseLogIndex, normalizeWord, TRANSFER_TOPIC } from "./parseTransfers.ts";

// The hottest path: after an outage one answer holds ten thousand transfers, a few of them ours. This scanner reads the
// raw bytes and parses only those few. It accepts JSON as nodes write it: no spaces, fields in any order, fixed-length
// hex words, whose digits are checked when parsed. For anything else it stops, and the general parser reads the whole
// answer and reports errors. So the scanner never has to be lenient.

export type LogQuery = BlockRange & {
  /** In stored form. */
  tokens: readonly string[];
  filter: Pick<AddressFilter, "hasAt">;
};

const [QUOTE, COMMA, COLON, BACKSLASH] = [0x22, 0x2c, 0x3a, 0x5c] as const;
const [CLOSE_LIST, OPEN_RECORD, CLOSE_RECORD] = [0x5d, 0x7b, 0x7d] as const;
/** Lengths of a 32-byte word and an address with "0x", and of an address without. */
const [WORD_LENGTH, ADDRESS_LENGTH, HEX_LENGTH] = [66, 42, 40] as const;
/** The general parser reads logs with more fields. */
const FIELDS_MAX = 24;
/** Above the length of any envelope around the list of logs. */
const ENVELOPE_LENGTH_MAX = 120;
const RESPONSE_START = /^\{(?:"(?:jsonrpc|id)":(?:"[\w.]*"|\d+),)*"result":\[/;
const RESPONSE_END = /^\](?:,"(?:jsonrpc|id)":(?:"[\w.]*"|\d+))*\}\s*$/;
const QUANTITY = /^0x[0-9a-fA-F]{1,16}$/;
const ADDRESS_PATTERN = /^0x[0-9a-f]{40}$/;

/** The fields to read. "from" and "to" are part of `topics`. */
const FIELDS = ["address", "topics", "", "data", "blockNumber", "blockHash", "transactionHash", "logIndex", "removed"];
const [ADDRESS, FROM, TO, DATA, BLOCK_NUMBER, BLOCK_HASH, CHAIN_TX, LOG_INDEX, REMOVED] = [
  0, 1, 2, 3, 4, 5, 6, 7, 8,
] as const;
/** Fixed value lengths; 0 where the length varies. */
const FIELD_LENGTHS = [ADDRESS_LENGTH, HEX_LENGTH, HEX_LENGTH, WORD_LENGTH, 0, WORD_LENGTH, WORD_LENGTH, 0, 0];
const ALL_FIELDS = 2 ** FIELDS.length - 1;
const FIELD_NAMES = FIELDS.map(asciiView);
const TRANSFER_FROM = asciiView(`["${TRANSFER_TOPIC}","${ADDRESS_PADDING}`);
const NEXT_TOPIC = asciiView(`","${ADDRESS_PADDING}`);
const FALSE = asciiView("false");

/** A value that differs between logs; `field` is negative for fields that are not read. */
type VaryingValue = { readonly field: number; at: number; length: number; readonly isFixed: boolean };

/** Returns undefined when the answer has another layout, or holds no logs. */
export function filterLogs(answer: Buffer, query: LogQuery): FilteredTransfers | undefined {
  const head = RESPONSE_START.exec(answer.toString("latin1", 0, ENVELOPE_LENGTH_MAX));
  return head ? new LogScanner(answer, query).scan(head[0].length) : undefined;
}

class LogScanner {
  readonly #bytes: Buffer;
  /** The same bytes, for comparison by four at a time. */
  readonly #view: DataView;
  readonly #query: LogQuery;
  readonly #tokens: readonly DataView[];
  /** Offsets and lengths of the current log's values. */
  readonly #offsets = new Int32Array(FIELDS.length);
  readonly #lengths = new Int32Array(FIELDS.length);
  /** Values that differ between logs of a block, in order, and the bounds of the previous log. */
  #varyingValues: VaryingValue[] = [];
  #begin = 0;
  #end = 0;
  /** Offsets in the previous log that show whether the current one is the first of its transaction. */
  readonly #previous = { chainTx: -1, blockHash: -1, logIndex: -1, logIndexLength: 0 };
  #blockNumber = -1n;
  readonly #blockHashes = new Map<bigint, string>();

  constructor(bytes: Buffer, question: LogQuery) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#query = question;
    this.#tokens = question.tokens.map(asciiView);
  }

  scan(start: number): FilteredTransfers | undefined {
    const transfers: Transfer[] = [];
    let logCount = 0;
    let at = start;
    for (let isMore = this.#bytes[at] !== CLOSE_LIST; isMore; isMore = this.#bytes[at] === COMMA) {
      if (logCount > 0) this.#savePrevious();
      at = this.#readLog(logCount === 0 ? at : at + 1);
      if (at < 0) return undefined;
      logCount += 1;
      if (!this.#matchesFilter()) continue;
      const transfer = this.#parseTransfer();
      if (transfer === undefined) return undefined;
      transfers.push(transfer);
    }
    // A truncated answer has another end.
    const isWhole =
      this.#bytes.length - at <= ENVELOPE_LENGTH_MAX && RESPONSE_END.test(this.#bytes.toString("latin1", at));
    return isWhole
      ? { transfers, scannedCount: logCount, lastBlockHash: this.#blockHashes.get(this.#query.toBlock) }
      : undefined;
  }

  /** Reads the log at `start`. Returns its end; a negative number for an unsupported layout. */
  #readLog(start: number): number {
    const end = this.#readLikePrevious(start);
    if (end >= 0) return end;
    this.#varyingValues = [];
    this.#begin = start;
    this.#end = this.#readFields(start);
    return this.#end >= 0 && this.#isTransfer() && this.#isInBlock() ? this.#end : -1;
  }

  /**
   * Two transfers of one token in one block differ in few values. When all other bytes equal the previous log, the
   * layout is valid.
   */
  #readLikePrevious(start: number): number {
    if (this.#varyingValues.length === 0) return -1;
    let [from, at] = [this.#begin, start];
    for (const value of this.#varyingValues) {
      if (!this.#isSame(at, from, value.at - from)) return -1;
      at += value.at - from;
      from = value.at + value.length;
      value.at = at;
      if (!value.isFixed) value.length = this.#endOfText(at) - at;
      if (value.length < 0) return -1;
      if (value.field >= 0) {
        this.#offsets[value.field] = at;
        this.#lengths[value.field] = value.length;
      }
      at += value.length;
    }
    if (!this.#isSame(at, from, this.#end - from)) return -1;
    this.#begin = start;
    this.#end = at + this.#end - from;
    return this.#end;
  }

  /** Reads a log field by field, and records the varying ones. */
  #readFields(start: number): number {
    const bytes = this.#bytes;
    if (bytes[start] !== OPEN_RECORD) return -1;
    let at = start;
    let found = 1 << REMOVED;
    for (let count = 0; count < FIELDS_MAX; count += 1) {
      const end = bytes[at + 1] === QUOTE ? this.#endOfText(at + 2) : -1;
      if (end < 0 || bytes[end + 1] !== COLON) return -1;
      const nameAt = at + 2;
      const field = FIELD_NAMES.findIndex(
        (name) => name.byteLength === end - nameAt && matchesAt(this.#view, nameAt, name),
      );
      at = field === FROM ? this.#readTopics(end + 2) : this.#readValue(end + 2, field);
      if (at < 0 || (field >= 0 && field !== REMOVED && (found & (1 << field)) !== 0)) return -1;
      if (field >= 0) found |= field === FROM ? (1 << FROM) | (1 << TO) : 1 << field;
      if (bytes[at] !== COMMA) return bytes[at] === CLOSE_RECORD && found === ALL_FIELDS ? at + 1 : -1;
    }
    return -1;
  }

  /** Reads a string, or `false` for `removed`, and returns its end. */
  #readValue(start: number, field: number): number {
    if (field === REMOVED) return matchesAt(this.#view, start, FALSE) ? start + FALSE.byteLength : -1;
    const end = this.#bytes[start] === QUOTE ? this.#endOfText(start + 1) : -1;
    if (end < 0) return -1;
    this.#addValue(field, { at: start + 1, length: end - start - 1 });
    return end + 1;
  }

  /** Reads a list of exactly three words: the event and two addresses. */
  #readTopics(start: number): number {
    const bytes = this.#bytes;
    const from = start + TRANSFER_FROM.byteLength;
    const to = from + HEX_LENGTH + NEXT_TOPIC.byteLength;
    const isTransfer =
      matchesAt(this.#view, start, TRANSFER_FROM) &&
      matchesAt(this.#view, from + HEX_LENGTH, NEXT_TOPIC) &&
      bytes[to + HEX_LENGTH] === QUOTE &&
      bytes[to + HEX_LENGTH + 1] === CLOSE_LIST;
    if (!isTransfer) return -1;
    this.#addValue(FROM, { at: from, length: HEX_LENGTH });
    this.#addValue(TO, { at: to, length: HEX_LENGTH });
    return to + HEX_LENGTH + 2;
  }

  #addValue(field: number, { at, length }: { at: number; length: number }): void {
    if (field >= 0) {
      this.#offsets[field] = at;
      this.#lengths[field] = length;
    }
    const isSteady = field === ADDRESS || field === BLOCK_NUMBER || field === BLOCK_HASH;
    if (!isSteady)
      this.#varyingValues.push({
        field,
        at,
        length,
        isFixed: FIELD_LENGTHS[field] !== undefined && FIELD_LENGTHS[field] > 0,
      });
  }

  /** The end of a string without escapes; negative where there is none. */
  #endOfText(start: number): number {
    const bytes = this.#bytes;
    for (let at = start; at < bytes.length; at += 1) {
      const byte = bytes[at];
      if (byte === QUOTE) return at;
      if (byte === BACKSLASH) return -1;
    }
    return -1;
  }

  /** Whether the current log belongs to a requested token and all its values have the right length. */
  #isTransfer(): boolean {
    for (const [field, length] of FIELD_LENGTHS.entries())
      if (length !== 0 && this.#lengths[field] !== length) return false;
    const address = this.#offsets[ADDRESS] ?? 0;
    return this.#tokens.some((token) => matchesAt(this.#view, address, token));
  }

  /** Whether the current log is in a requested block, with the same hash as other logs of that number. */
  #isInBlock(): boolean {
    const text = this.#text(BLOCK_NUMBER);
    if (!QUANTITY.test(text)) return false;
    const number = BigInt(text);
    const hash = this.#text(BLOCK_HASH).toLowerCase();
    if (number < this.#query.fromBlock || number > this.#query.toBlock) return false;
    if ((this.#blockHashes.get(number) ?? hash) !== hash) return false;
    this.#blockHashes.set(number, hash);
    this.#blockNumber = number;
    return true;
  }

  #matchesFilter(): boolean {
    const { filter } = this.#query;
    return filter.hasAt(this.#bytes, this.#offsets[TO] ?? 0) || filter.hasAt(this.#bytes, this.#offsets[FROM] ?? 0);
  }

  #parseTransfer(): Transfer | undefined {
    const [from, to] = [`0x${this.#text(FROM).toLowerCase()}`, `0x${this.#text(TO).toLowerCase()}`];
    const logIndex = parseLogIndex(this.#text(LOG_INDEX));
    const [chainTx, blockHash] = [normalizeWord(this.#text(CHAIN_TX)), normalizeWord(this.#text(BLOCK_HASH))];
    const amountText = normalizeWord(this.#text(DATA));
    if (logIndex === undefined || chainTx === undefined || blockHash === undefined) return undefined;
    if (amountText === undefined || !ADDRESS_PATTERN.test(from) || !ADDRESS_PATTERN.test(to)) return undefined;
    const token = this.#text(ADDRESS);
    const place = BigInt(logIndex);
    const transfer = { token, from, to, amountText, chainTx, place, blockNumber: this.#blockNumber, blockHash };
    return this.#isFirstOfTransaction(logIndex) ? { ...transfer, identity: "0" } : transfer;
  }

  #savePrevious(): void {
    const before = this.#previous;
    before.chainTx = this.#offsets[CHAIN_TX] ?? 0;
    before.blockHash = this.#offsets[BLOCK_HASH] ?? 0;
    before.logIndex = this.#offsets[LOG_INDEX] ?? 0;
    before.logIndexLength = this.#lengths[LOG_INDEX] ?? 0;
  }

  /**
   * Whether the current log is proven to be the first of its transaction: it is the first of its block, or the log
   * directly before it belongs to another transaction.
   */
  #isFirstOfTransaction(logIndex: number): boolean {
    if (logIndex === 0) return true;
    const { chainTx, blockHash, logIndex: at, logIndexLength } = this.#previous;
    return (
      at >= 0 &&
      Number(this.#bytes.toString("latin1", at, at + logIndexLength)) === logIndex - 1 &&
      this.#isSame(this.#offsets[BLOCK_HASH] ?? 0, blockHash, WORD_LENGTH) &&
      !this.#isSame(this.#offsets[CHAIN_TX] ?? 0, chainTx, WORD_LENGTH)
    );
  }

  /** Whether `length` bytes at `one` and `other` are equal. */
  #isSame(one: number, other: number, length: number): boolean {
    const view = this.#view;
    if (one + length > view.byteLength) return false;
    let index = 0;
    for (; index + 4 <= length; index += 4)
      if (view.getUint32(one + index) !== view.getUint32(other + index)) return false;
    for (; index < length; index += 1) if (view.getUint8(one + index) !== view.getUint8(other + index)) return false;
    return true;
  }

  #text(field: number): string {
    const at = this.#offsets[field] ?? 0;
    return this.#bytes.toString("latin1", at, at + (this.#lengths[field] ?? 0));
  }
}

function asciiView(text: string): DataView {
  return new DataView(new TextEncoder().encode(text).buffer);
}

/** Whether the text stands at `start`; false at the end of the bytes. */
function matchesAt(view: DataView, start: number, text: DataView): boolean {
  const length = text.byteLength;
  if (start + length > view.byteLength) return false;
  let index = 0;
  for (; index + 4 <= length; index += 4) if (view.getUint32(start + index) !== text.getUint32(index)) return false;
  for (; index < length; index += 1) if (view.getUint8(start + index) !== text.getUint8(index)) return false;
  return true;
}
