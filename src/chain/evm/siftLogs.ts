import type { BlockRange, SiftedTransfers, Sieve, Transfer } from "../driver.ts";
import { ADDRESS_PADDING, indexOf, storedWord, TRANSFER_TOPIC } from "./transfers.ts";

// The hottest path of all: after an outage an answer holds ten thousand transfers, of which a few are ours. This reads the bytes as they
// came and makes values of those few alone. It knows JSON as nodes write it: no space between words, the fields of a log in any order,
// words of 32 bytes in hex, taken by their length; their digits are looked at where a value is made of them. At anything else it stops, and
// the general reader takes the whole answer, which also finds the words for what is wrong with it. So nothing here has to be lenient.

export type SiftQuestion = BlockRange & {
  /** In stored form. */
  tokens: readonly string[];
  sieve: Pick<Sieve, "hasHexAt">;
};

const [QUOTE, COMMA, COLON, BACKSLASH] = [0x22, 0x2c, 0x3a, 0x5c] as const;
const [CLOSE_LIST, OPEN_RECORD, CLOSE_RECORD] = [0x5d, 0x7b, 0x7d] as const;
/** "0x" and 32 bytes, "0x" and 20, and 20 alone. */
const [WORD_LENGTH, ADDRESS_LENGTH, HEX_LENGTH] = [66, 42, 40] as const;
/** A log with more fields is left to the general reader. */
const FIELDS_MAX = 24;
/** More than a node writes around the list of logs. */
const FRAME_LENGTH_MAX = 120;
const HEAD = /^\{(?:"(?:jsonrpc|id)":(?:"[\w.]*"|\d+),)*"result":\[/;
const TAIL = /^\](?:,"(?:jsonrpc|id)":(?:"[\w.]*"|\d+))*\}\s*$/;
const QUANTITY = /^0x[0-9a-fA-F]{1,16}$/;
const PARTY = /^0x[0-9a-f]{40}$/;

/** What is read of a log. From and to stand in its topics, under that name. */
const FIELDS = ["address", "topics", "", "data", "blockNumber", "blockHash", "transactionHash", "logIndex", "removed"];
const [ADDRESS, FROM, TO, DATA, BLOCK_NUMBER, BLOCK_HASH, CHAIN_TX, LOG_INDEX, REMOVED] = [
  0, 1, 2, 3, 4, 5, 6, 7, 8,
] as const;
/** How long a value is that is always as long; 0 where it is not. */
const LENGTHS = [ADDRESS_LENGTH, HEX_LENGTH, HEX_LENGTH, WORD_LENGTH, 0, WORD_LENGTH, WORD_LENGTH, 0, 0];
const ALL_FIELDS = 2 ** FIELDS.length - 1;
const NAMES = FIELDS.map(literal);
const TRANSFER_FROM = literal(`["${TRANSFER_TOPIC}","${ADDRESS_PADDING}`);
const NEXT_TOPIC = literal(`","${ADDRESS_PADDING}`);
const FALSE = literal("false");

/** A value that differs from log to log; `field` is negative when nobody asks for it. */
type Varying = { readonly field: number; at: number; length: number; readonly isFixed: boolean };

/** Undefined when the answer is written in another way than this reads, or is no answer of logs at all. */
export function siftLogs(answer: Buffer, question: SiftQuestion): SiftedTransfers | undefined {
  const head = HEAD.exec(answer.toString("latin1", 0, FRAME_LENGTH_MAX));
  return head ? new LogSieve(answer, question).read(head[0].length) : undefined;
}

class LogSieve {
  readonly #bytes: Buffer;
  /** The same, to be compared four bytes at a time. */
  readonly #view: DataView;
  readonly #question: SiftQuestion;
  readonly #tokens: readonly DataView[];
  /** Where the values of the log at hand begin, and their lengths. */
  readonly #at = new Int32Array(FIELDS.length);
  readonly #length = new Int32Array(FIELDS.length);
  /** What differs from one log of a block to the next, in its order, and where the log before began and ended. */
  #varying: Varying[] = [];
  #begin = 0;
  #end = 0;
  /** Where the values of the log before begin that say whether the one at hand is the first of its transaction. */
  readonly #before = { chainTx: -1, blockHash: -1, logIndex: -1, logIndexLength: 0 };
  #blockNumber = -1n;
  readonly #hashes = new Map<bigint, string>();

  constructor(bytes: Buffer, question: SiftQuestion) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#question = question;
    this.#tokens = question.tokens.map(literal);
  }

  read(start: number): SiftedTransfers | undefined {
    const transfers: Transfer[] = [];
    let logCount = 0;
    let at = start;
    for (let isMore = this.#bytes[at] !== CLOSE_LIST; isMore; isMore = this.#bytes[at] === COMMA) {
      if (logCount > 0) this.#rememberLog();
      at = this.#readLog(logCount === 0 ? at : at + 1);
      if (at < 0) return undefined;
      logCount += 1;
      if (!this.#isWanted()) continue;
      const transfer = this.#transfer();
      if (transfer === undefined) return undefined;
      transfers.push(transfer);
    }
    // An answer that was cut off has another end.
    const isWhole = this.#bytes.length - at <= FRAME_LENGTH_MAX && TAIL.test(this.#bytes.toString("latin1", at));
    return isWhole ? { transfers, logCount, endHash: this.#hashes.get(this.#question.toBlock) } : undefined;
  }

  /** Reads the log that begins at `start`. Returns where it ends; a negative number when it is not what this reads. */
  #readLog(start: number): number {
    const end = this.#readLikeBefore(start);
    if (end >= 0) return end;
    this.#varying = [];
    this.#begin = start;
    this.#end = this.#readFields(start);
    return this.#end >= 0 && this.#isTransfer() && this.#isInBlock() ? this.#end : -1;
  }

  /**
   * Two transfers of one token in one block differ in a few values alone. Where everything between these is as in the log before, it is as
   * good as that one was.
   */
  #readLikeBefore(start: number): number {
    if (this.#varying.length === 0) return -1;
    let [from, at] = [this.#begin, start];
    for (const value of this.#varying) {
      if (!this.#isSame(at, from, value.at - from)) return -1;
      at += value.at - from;
      from = value.at + value.length;
      value.at = at;
      if (!value.isFixed) value.length = this.#endOfText(at) - at;
      if (value.length < 0) return -1;
      if (value.field >= 0) {
        this.#at[value.field] = at;
        this.#length[value.field] = value.length;
      }
      at += value.length;
    }
    if (!this.#isSame(at, from, this.#end - from)) return -1;
    this.#begin = start;
    this.#end = at + this.#end - from;
    return this.#end;
  }

  /** Reads a log field by field, and remembers which of them vary. */
  #readFields(start: number): number {
    const bytes = this.#bytes;
    if (bytes[start] !== OPEN_RECORD) return -1;
    let at = start;
    let found = 1 << REMOVED;
    for (let count = 0; count < FIELDS_MAX; count += 1) {
      const end = bytes[at + 1] === QUOTE ? this.#endOfText(at + 2) : -1;
      if (end < 0 || bytes[end + 1] !== COLON) return -1;
      const nameAt = at + 2;
      const field = NAMES.findIndex((name) => name.byteLength === end - nameAt && isAt(this.#view, nameAt, name));
      at = field === FROM ? this.#readTopics(end + 2) : this.#readValue(end + 2, field);
      if (at < 0 || (field >= 0 && field !== REMOVED && (found & (1 << field)) !== 0)) return -1;
      if (field >= 0) found |= field === FROM ? (1 << FROM) | (1 << TO) : 1 << field;
      if (bytes[at] !== COMMA) return bytes[at] === CLOSE_RECORD && found === ALL_FIELDS ? at + 1 : -1;
    }
    return -1;
  }

  /** Reads a text, or the word false for `removed`, and returns where it ends. */
  #readValue(start: number, field: number): number {
    if (field === REMOVED) return isAt(this.#view, start, FALSE) ? start + FALSE.byteLength : -1;
    const end = this.#bytes[start] === QUOTE ? this.#endOfText(start + 1) : -1;
    if (end < 0) return -1;
    this.#note(field, { at: start + 1, length: end - start - 1 });
    return end + 1;
  }

  /** Reads a list of exactly three words: the event, and two addresses. */
  #readTopics(start: number): number {
    const bytes = this.#bytes;
    const from = start + TRANSFER_FROM.byteLength;
    const to = from + HEX_LENGTH + NEXT_TOPIC.byteLength;
    const isTransfer =
      isAt(this.#view, start, TRANSFER_FROM) &&
      isAt(this.#view, from + HEX_LENGTH, NEXT_TOPIC) &&
      bytes[to + HEX_LENGTH] === QUOTE &&
      bytes[to + HEX_LENGTH + 1] === CLOSE_LIST;
    if (!isTransfer) return -1;
    this.#note(FROM, { at: from, length: HEX_LENGTH });
    this.#note(TO, { at: to, length: HEX_LENGTH });
    return to + HEX_LENGTH + 2;
  }

  #note(field: number, { at, length }: { at: number; length: number }): void {
    if (field >= 0) {
      this.#at[field] = at;
      this.#length[field] = length;
    }
    const isSteady = field === ADDRESS || field === BLOCK_NUMBER || field === BLOCK_HASH;
    if (!isSteady)
      this.#varying.push({ field, at, length, isFixed: LENGTHS[field] !== undefined && LENGTHS[field] > 0 });
  }

  /** The end of a text without escapes; negative where there is none. */
  #endOfText(start: number): number {
    const bytes = this.#bytes;
    for (let at = start; at < bytes.length; at += 1) {
      const byte = bytes[at];
      if (byte === QUOTE) return at;
      if (byte === BACKSLASH) return -1;
    }
    return -1;
  }

  /** Whether the log at hand is of a token that was asked for, with all its values as long as they should be. */
  #isTransfer(): boolean {
    for (const [field, length] of LENGTHS.entries()) if (length !== 0 && this.#length[field] !== length) return false;
    const address = this.#at[ADDRESS] ?? 0;
    return this.#tokens.some((token) => isAt(this.#view, address, token));
  }

  /** Whether the log at hand stands in a block that was asked for, and in the same one as the others of that number. */
  #isInBlock(): boolean {
    const text = this.#text(BLOCK_NUMBER);
    if (!QUANTITY.test(text)) return false;
    const number = BigInt(text);
    const hash = this.#text(BLOCK_HASH).toLowerCase();
    if (number < this.#question.fromBlock || number > this.#question.toBlock) return false;
    if ((this.#hashes.get(number) ?? hash) !== hash) return false;
    this.#hashes.set(number, hash);
    this.#blockNumber = number;
    return true;
  }

  #isWanted(): boolean {
    const { sieve } = this.#question;
    return sieve.hasHexAt(this.#bytes, this.#at[TO] ?? 0) || sieve.hasHexAt(this.#bytes, this.#at[FROM] ?? 0);
  }

  #transfer(): Transfer | undefined {
    const [from, to] = [`0x${this.#text(FROM).toLowerCase()}`, `0x${this.#text(TO).toLowerCase()}`];
    const logIndex = indexOf(this.#text(LOG_INDEX));
    const [chainTx, blockHash] = [storedWord(this.#text(CHAIN_TX)), storedWord(this.#text(BLOCK_HASH))];
    const amountText = storedWord(this.#text(DATA));
    if (logIndex === undefined || chainTx === undefined || blockHash === undefined) return undefined;
    if (amountText === undefined || !PARTY.test(from) || !PARTY.test(to)) return undefined;
    const token = this.#text(ADDRESS);
    const transfer = { token, from, to, amountText, chainTx, logIndex, blockNumber: this.#blockNumber, blockHash };
    return this.#isFirst(transfer.logIndex) ? { ...transfer, position: 0 } : transfer;
  }

  #rememberLog(): void {
    const before = this.#before;
    before.chainTx = this.#at[CHAIN_TX] ?? 0;
    before.blockHash = this.#at[BLOCK_HASH] ?? 0;
    before.logIndex = this.#at[LOG_INDEX] ?? 0;
    before.logIndexLength = this.#length[LOG_INDEX] ?? 0;
  }

  /**
   * Whether the log at hand is shown to be the first of its transaction: it is the first of its block, or the one that stands just before it
   * there is another transaction's.
   */
  #isFirst(logIndex: number): boolean {
    if (logIndex === 0) return true;
    const { chainTx, blockHash, logIndex: at, logIndexLength } = this.#before;
    return (
      at >= 0 &&
      Number(this.#bytes.toString("latin1", at, at + logIndexLength)) === logIndex - 1 &&
      this.#isSame(this.#at[BLOCK_HASH] ?? 0, blockHash, WORD_LENGTH) &&
      !this.#isSame(this.#at[CHAIN_TX] ?? 0, chainTx, WORD_LENGTH)
    );
  }

  /** Whether the bytes from `one` on are those from `other` on. */
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
    const at = this.#at[field] ?? 0;
    return this.#bytes.toString("latin1", at, at + (this.#length[field] ?? 0));
  }
}

function literal(text: string): DataView {
  return new DataView(new TextEncoder().encode(text).buffer);
}

/** Whether the text stands at `start`; not where the bytes end before it does. */
function isAt(view: DataView, start: number, text: DataView): boolean {
  const length = text.byteLength;
  if (start + length > view.byteLength) return false;
  let index = 0;
  for (; index + 4 <= length; index += 4) if (view.getUint32(start + index) !== text.getUint32(index)) return false;
  for (; index < length; index += 1) if (view.getUint8(start + index) !== text.getUint8(index)) return false;
  return true;
}
