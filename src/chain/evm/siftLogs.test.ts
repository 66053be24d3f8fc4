import { deepEqual, equal, ok, throws } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { ProviderFailed, type Transfer } from "../driver.ts";
import { siftLogs } from "./siftLogs.ts";
import { readTransfers } from "./transfers.ts";

// The general reader says what an answer means. What is sifted must mean the same, or be left to it.

const TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
const hex = (digits: number) =>
  fc.bigInt(0n, 16n ** BigInt(digits) - 1n).map((number) => number.toString(16).padStart(digits, "0"));
const TOKENS = [`0x${"a0".repeat(20)}`, `0x${"b1".repeat(20)}`];
const OURS = Array.from({ length: 4 }, (_, index) => `${String(index).repeat(39)}f`);
const range = { fromBlock: 0x10n, toBlock: 0x1fn };
const sieve = {
  hasHexAt: (bytes: Uint8Array, at: number) => isOurs(Buffer.from(bytes).toString("latin1", at, at + 40)),
};
const question = { ...range, tokens: TOKENS, sieve };

const isOurs = (digits: string) => OURS.includes(digits.toLowerCase());
const party = fc.oneof({ weight: 3, arbitrary: hex(40) }, fc.constantFrom(...OURS));
const word = (digits: string) => `0x${"0".repeat(24)}${digits}`;
const hashOf = (block: number) => `0x${block.toString(16).padStart(64, "b")}`;
const quantity = fc.nat(0xffff).map((number) => `0x${number.toString(16)}`);

const log = fc
  .record({ token: fc.constantFrom(...TOKENS), from: party, to: party, block: fc.integer({ min: 0x10, max: 0x1f }) })
  .chain(({ token, from, to, block }) =>
    fc.record({
      address: fc.constant(token),
      topics: fc.constant([TRANSFER, word(from), word(to)]),
      data: hex(64).map((digits) => `0x${digits}`),
      blockNumber: fc.constant(`0x${block.toString(16)}`),
      blockHash: fc.constant(hashOf(block)),
      blockTimestamp: quantity,
      transactionHash: hex(64).map((digits) => `0x${digits}`),
      transactionIndex: quantity,
      logIndex: quantity,
      removed: fc.constant(false),
    }),
  );
type Log = Record<string, unknown>;

const lettersRaised = (topics: unknown): unknown =>
  Array.isArray(topics)
    ? topics.map((topic, index) => (index > 0 ? String(topic).toUpperCase().replace("0X", "0x") : topic))
    : topics;

/** With more before an address than the zeros that make a word of it. */
const padded = (topics: unknown, place: number): unknown =>
  Array.isArray(topics)
    ? topics.map((topic, index) => (index === place ? `0x${"01".repeat(12)}${String(topic).slice(26)}` : topic))
    : topics;

/** What some node might do to a log: other letters, another order, more or fewer fields, values that are none. */
const oddity = fc.oneof(
  fc
    .record({
      field: fc.constantFrom(
        "address",
        "topics",
        "data",
        "blockNumber",
        "blockHash",
        "transactionHash",
        "logIndex",
        "removed",
      ),
      value: fc.oneof(
        fc.constantFrom<unknown>(
          null,
          true,
          false,
          "",
          "0x",
          "0x1",
          [],
          [TRANSFER],
          [TRANSFER, word(OURS[0] ?? ""), word(OURS[1] ?? ""), word(OURS[2] ?? "")],
          `0x${"c2".repeat(20)}`,
          word(OURS[0] ?? "").toUpperCase(),
          'a"b\\',
          `0x${"ab".repeat(32)}`,
          `0x${"ab".repeat(31)}zz`,
          `0x${"AB".repeat(32)}`,
          "0x7fffffff",
          "0x80000000",
          "0xffffffffffffffff",
        ),
        fc.json(),
      ),
    })
    .map(({ field, value }) => (one: Log): Log => ({ ...one, [field]: value })),
  fc.constant((one: Log): Log => Object.fromEntries(Object.entries(one).toReversed())),
  fc.constant((one: Log): Log => ({ ...one, address: String(one["address"]).toUpperCase().replace("0X", "0x") })),
  fc.constant((one: Log): Log => ({
    ...one,
    topics: lettersRaised(one["topics"]),
  })),
  fc.constantFrom(1, 2).map((place) => (one: Log): Log => ({ ...one, topics: padded(one["topics"], place) })),
  fc.constant((one: Log): Log => ({ ...one, l1BatchNumber: null })),
  fc.constant((one: Log): Log => ({ logType: "0x0", ...one })),
  fc.constantFrom("logIndex", "removed", "transactionIndex", "blockHash").map((field) => (one: Log): Log => {
    const { [field]: _, ...others } = one;
    return others;
  }),
);

const concernsUs = ({ from, to }: Transfer) => isOurs(from.slice(2)) || isOurs(to.slice(2));
const namesUs = ({ topics }: Log) => OURS.some((digits) => JSON.stringify(topics).toLowerCase().includes(digits));
const general = (logs: readonly Log[]) => readTransfers(JSON.parse(JSON.stringify(logs)), range, TOKENS);
/** What the general reader leaves to the receipt. */
const withoutPosition = (transfer: Transfer) => {
  const { position: _, ...rest } = transfer;
  return rest;
};
const answerOf = (logs: readonly Log[]) => JSON.stringify({ jsonrpc: "2.0", id: 1, result: logs });

test("of answers as nodes write them, the same transfers are found, and all logs are counted", () => {
  fc.assert(
    fc.property(fc.array(log, { maxLength: 40 }), fc.boolean(), (logs, isSorted) => {
      const sorted = isSorted ? logs.toSorted((one, other) => (one.blockNumber < other.blockNumber ? -1 : 1)) : logs;
      const sifted = siftLogs(Buffer.from(answerOf(sorted)), question);
      ok(sifted, "such an answer is read");
      deepEqual(sifted.transfers.map(withoutPosition), general(sorted).filter(concernsUs));
      equal(sifted.logCount, logs.length);
      equal(sifted.endHash, logs.some(({ blockNumber }) => blockNumber === "0x1f") ? hashOf(0x1f) : undefined);
    }),
    { numRuns: 300 },
  );
});

test("an answer with anything odd in it is left to the general reader, or means the same", () => {
  let left = 0;
  let read = 0;
  fc.assert(
    fc.property(
      fc.array(log, { minLength: 1, maxLength: 12 }),
      fc.nat(),
      fc.array(oddity, { minLength: 1, maxLength: 2 }),
      (logs, which, oddities) => {
        const odd: Log[] = [...logs];
        const at = which % odd.length;
        for (const bend of oddities) odd[at] = bend({ ...odd[at] });
        const sifted = siftLogs(Buffer.from(answerOf(odd)), question);
        if (!sifted) {
          left += 1;
          return;
        }
        read += 1;
        // What is odd about somebody else\'s log is nobody\'s business here.
        deepEqual(sifted.transfers.map(withoutPosition), general(odd.filter(namesUs)));
      },
    ),
    { numRuns: 1_000 },
  );
  ok(left > 50 && read > 50, `${left} left, ${read} read`);
});

test("a transfer that is shown to be the first log of its transaction needs no receipt, and no other is taken for one", () => {
  // Transactions of some logs each, in two blocks; of the logs, some are transfers that were asked for, and the answer holds only these.
  const transactions = fc.array(fc.array(fc.boolean(), { minLength: 1, maxLength: 4 }), { maxLength: 6 });
  let shown = 0;
  fc.assert(
    fc.property(transactions, transactions, log, (one, two, sample) => {
      const told = [one, two].flatMap((ofBlock, place) => logsOfBlock(ofBlock, { block: 0x10 + place, sample }));
      const asked = told.filter(({ isAsked }) => isAsked);
      const sifted = siftLogs(Buffer.from(answerOf(asked.map((each) => each.log))), question);
      deepEqual(
        sifted?.transfers.map(({ position }) => position),
        asked.map(({ log: { logIndex, blockNumber }, position }) => {
          const isShown =
            logIndex === "0x0" || asked.some((other) => isJustBefore(other.log, { logIndex, blockNumber }));
          shown += isShown && position === 0 ? 1 : 0;
          return isShown && position === 0 ? 0 : undefined;
        }),
      );
    }),
    { numRuns: 300 },
  );
  ok(shown > 100, `${shown} shown`);
});

/** `transactions`: of each of its logs, whether it is a transfer that is asked for. All of them are to one of ours. */
function logsOfBlock(
  transactions: readonly (readonly boolean[])[],
  { block, sample }: { block: number; sample: Log },
): { log: Log; isAsked: boolean; position: number }[] {
  return transactions
    .flatMap((logs, transaction) => logs.map((isAsked, position) => ({ isAsked, position, transaction })))
    .map(({ transaction, ...rest }, index) => ({
      ...rest,
      log: {
        ...sample,
        topics: [TRANSFER, word("9".repeat(40)), word(OURS[0] ?? "")],
        blockNumber: `0x${block.toString(16)}`,
        blockHash: hashOf(block),
        transactionHash: `0x${(block * 100 + transaction).toString(16).padStart(64, "0")}`,
        logIndex: `0x${index.toString(16)}`,
      },
    }));
}

function isJustBefore(other: Log, { logIndex, blockNumber }: Log): boolean {
  return other["blockNumber"] === blockNumber && Number(other["logIndex"]) === Number(logIndex) - 1;
}

test("an answer that is cut off anywhere is not taken for a whole one", () => {
  const [whole] = fc.sample(fc.array(log, { minLength: 3, maxLength: 3 }), { numRuns: 1, seed: 7 });
  const bytes = Buffer.from(answerOf(whole ?? []));
  for (let length = 0; length < bytes.length; length += 1)
    equal(siftLogs(bytes.subarray(0, length), question), undefined);
  ok(siftLogs(bytes, question));
});

test("what the database cannot keep of a transfer of ours is left to the general reader, which refuses it", () => {
  const [sample] = fc.sample(log, { numRuns: 1, seed: 7 });
  ok(sample);
  const ours = { ...sample, topics: [TRANSFER, word("9".repeat(40)), word(OURS[0] ?? "")] };
  for (const changed of [
    { logIndex: "0x80000000" },
    { transactionHash: `0x${"c2".repeat(31)}zz` },
    { blockHash: `0x${"b1".repeat(31)}zz` },
    { data: `0x${"0".repeat(62)} 5` },
    { topics: [TRANSFER, word(`${"9".repeat(38)}é`), word(OURS[0] ?? "")] },
    { topics: [TRANSFER, word(`${"9".repeat(39)}'`), word(OURS[0] ?? "")] },
    { topics: [TRANSFER, word(OURS[0] ?? ""), word(`${"9".repeat(39)}g`)] },
  ]) {
    for (const logs of [[{ ...ours, ...changed }], [ours, { ...ours, ...changed }]]) {
      equal(siftLogs(Buffer.from(answerOf(logs)), question), undefined, JSON.stringify(changed));
      throws(() => general(logs), ProviderFailed, JSON.stringify(changed));
    }
  }
  ok(siftLogs(Buffer.from(answerOf([{ ...ours, logIndex: "0x7fffffff" }])), question));
});

test("errors, other results, and logs that were not asked for are left to the general reader", () => {
  const [one] = fc.sample(log, { numRuns: 1, seed: 7 });
  ok(one);
  for (const body of [
    "",
    "{}",
    "[]",
    "null",
    '{"jsonrpc":"2.0","id":1,"error":{"code":-32005,"message":"too many results"}}',
    '{"jsonrpc":"2.0","id":1,"result":null}',
    `{"jsonrpc":"2.0","id":1,"result":[${JSON.stringify(one)}],"error":{}}`,
    answerOf([{ ...one, blockNumber: "0x20" }]),
    answerOf([one, { ...one, blockHash: hashOf(1) }]),
    JSON.stringify({ result: [one] }, null, 1),
  ]) {
    equal(siftLogs(Buffer.from(body), question), undefined, body.slice(0, 80));
  }
  deepEqual(siftLogs(Buffer.from('{"result":[],"id":1,"jsonrpc":"2.0"}\n'), question), {
    transfers: [],
    logCount: 0,
    endHash: undefined,
  });
});
