import { deepEqual, equal, ok, throws } from "node:assert/strict";
import { test } from "node:test";
import { drawn, fc } from "../../../../test/support/properties.ts";
import { ProviderFailed, type Transfer } from "../../reader.ts";
import { filterLogs } from "./filterLogs.ts";
import { parseTransfers } from "./parseTransfers.ts";

// The general parser defines the meaning of an answer. The scanner must give the same result, or leave the answer to
// it.

const TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
const hex = (digits: number) =>
  fc.bigInt(0n, 16n ** BigInt(digits) - 1n).map((number) => number.toString(16).padStart(digits, "0"));
const TOKENS = [`0x${"a0".repeat(20)}`, `0x${"b1".repeat(20)}`];
const WATCHED = Array.from({ length: 4 }, (_, index) => `${String(index).repeat(39)}f`);
const range = { fromBlock: 0x10n, toBlock: 0x1fn };
const filter = {
  hasAt: (bytes: Uint8Array, at: number) => isWatched(Buffer.from(bytes).toString("latin1", at, at + 40)),
};
const query = { ...range, tokens: TOKENS, filter };

const isWatched = (digits: string) => WATCHED.includes(digits.toLowerCase());
const party = fc.oneof({ weight: 3, arbitrary: hex(40) }, fc.constantFrom(...WATCHED));
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

const withUppercaseTopics = (topics: unknown): unknown =>
  Array.isArray(topics)
    ? topics.map((topic, index) => (index > 0 ? String(topic).toUpperCase().replace("0X", "0x") : topic))
    : topics;

/** With other bytes than zeros as padding of an address. */
const withDirtyPadding = (topics: unknown, place: number): unknown =>
  Array.isArray(topics)
    ? topics.map((topic, index) => (index === place ? `0x${"01".repeat(12)}${String(topic).slice(26)}` : topic))
    : topics;

/** Possible variations of a log: case, order, more or fewer fields, malformed values. */
const malformation = fc.oneof(
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
          [TRANSFER, word(WATCHED[0] ?? ""), word(WATCHED[1] ?? ""), word(WATCHED[2] ?? "")],
          `0x${"c2".repeat(20)}`,
          word(WATCHED[0] ?? "").toUpperCase(),
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
    topics: withUppercaseTopics(one["topics"]),
  })),
  fc.constantFrom(1, 2).map((place) => (one: Log): Log => ({ ...one, topics: withDirtyPadding(one["topics"], place) })),
  fc.constant((one: Log): Log => ({ ...one, l1BatchNumber: null })),
  fc.constant((one: Log): Log => ({ logType: "0x0", ...one })),
  fc.constantFrom("logIndex", "removed", "transactionIndex", "blockHash").map((field) => (one: Log): Log => {
    const { [field]: _, ...others } = one;
    return others;
  }),
);

const touchesWatched = ({ from, to }: Transfer) => isWatched(from.slice(2)) || isWatched(to.slice(2));
const mentionsWatched = ({ topics }: Log) =>
  WATCHED.some((digits) => JSON.stringify(topics).toLowerCase().includes(digits));
const parseAll = (logs: readonly Log[]) => parseTransfers(JSON.parse(JSON.stringify(logs)), range, TOKENS);
/** What the general parser leaves to the receipt. */
const withoutPosition = (transfer: Transfer) => {
  const { identity: _, ...rest } = transfer;
  return rest;
};
const answerOf = (logs: readonly Log[]) => JSON.stringify({ jsonrpc: "2.0", id: 1, result: logs });

test("answers in nodes' format give the same transfers, and all logs are counted", () => {
  fc.assert(
    fc.property(fc.array(log, { maxLength: 40 }), fc.boolean(), (logs, isSorted) => {
      const sorted = isSorted ? logs.toSorted((one, other) => (one.blockNumber < other.blockNumber ? -1 : 1)) : logs;
      const sifted = filterLogs(Buffer.from(answerOf(sorted)), query);
      ok(sifted, "such an answer is read");
      deepEqual(sifted.transfers.map(withoutPosition), parseAll(sorted).filter(touchesWatched));
      equal(sifted.scannedCount, logs.length);
      equal(sifted.lastBlockHash, logs.some(({ blockNumber }) => blockNumber === "0x1f") ? hashOf(0x1f) : undefined);
    }),
    { numRuns: 300 },
  );
});

test("an unusual answer is left to the general parser, or gives the same result", () => {
  let left = 0;
  let read = 0;
  fc.assert(
    fc.property(
      fc.array(log, { minLength: 1, maxLength: 12 }),
      fc.nat(),
      fc.array(malformation, { minLength: 1, maxLength: 2 }),
      (logs, which, oddities) => {
        const odd: Log[] = [...logs];
        const at = which % odd.length;
        for (const bend of oddities) odd[at] = bend({ ...odd[at] });
        const sifted = filterLogs(Buffer.from(answerOf(odd)), query);
        if (!sifted) {
          left += 1;
          return;
        }
        read += 1;
        // Malformed values in foreign logs do not matter here.
        deepEqual(sifted.transfers.map(withoutPosition), parseAll(odd.filter(mentionsWatched)));
      },
    ),
    { numRuns: drawn(1_000) },
  );
  ok(left > 50 && read > 50, `${left} left, ${read} read`);
});

test("only a transfer proven to be its transaction's first log needs no receipt", () => {
  // Transactions with several logs each, in two blocks; the answer holds only the logs that are requested transfers.
  const transactions = fc.array(fc.array(fc.boolean(), { minLength: 1, maxLength: 4 }), { maxLength: 6 });
  let shown = 0;
  fc.assert(
    fc.property(transactions, transactions, log, (one, two, sample) => {
      const logs = [one, two].flatMap((ofBlock, place) => logsOfBlock(ofBlock, { block: 0x10 + place, sample }));
      const asked = logs.filter(({ isAsked }) => isAsked);
      const sifted = filterLogs(Buffer.from(answerOf(asked.map((each) => each.log))), query);
      deepEqual(
        sifted?.transfers.map(({ identity }) => identity),
        asked.map(({ log: { logIndex, blockNumber }, position }) => {
          const isShown =
            logIndex === "0x0" || asked.some((other) => isJustBefore(other.log, { logIndex, blockNumber }));
          shown += isShown && position === 0 ? 1 : 0;
          return isShown && position === 0 ? "0" : undefined;
        }),
      );
    }),
    { numRuns: 300 },
  );
  ok(shown > 100, `${shown} shown`);
});

/** `transactions`: for each log, whether it is a requested transfer. All of them go to our inboxes. */
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
        topics: [TRANSFER, word("9".repeat(40)), word(WATCHED[0] ?? "")],
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

test("an answer truncated anywhere is never accepted", () => {
  const [whole] = fc.sample(fc.array(log, { minLength: 3, maxLength: 3 }), { numRuns: 1, seed: 7 });
  const bytes = Buffer.from(answerOf(whole ?? []));
  for (let length = 0; length < bytes.length; length += 1)
    equal(filterLogs(bytes.subarray(0, length), query), undefined);
  ok(filterLogs(bytes, query));
});

test("values of our transfers that the database cannot store are left to the general parser, which refuses them", () => {
  const [sample] = fc.sample(log, { numRuns: 1, seed: 7 });
  ok(sample);
  const ours = { ...sample, topics: [TRANSFER, word("9".repeat(40)), word(WATCHED[0] ?? "")] };
  for (const changed of [
    { logIndex: "0x80000000" },
    { transactionHash: `0x${"c2".repeat(31)}zz` },
    { blockHash: `0x${"b1".repeat(31)}zz` },
    { data: `0x${"0".repeat(62)} 5` },
    { topics: [TRANSFER, word(`${"9".repeat(38)}é`), word(WATCHED[0] ?? "")] },
    { topics: [TRANSFER, word(`${"9".repeat(39)}'`), word(WATCHED[0] ?? "")] },
    { topics: [TRANSFER, word(WATCHED[0] ?? ""), word(`${"9".repeat(39)}g`)] },
  ]) {
    for (const logs of [[{ ...ours, ...changed }], [ours, { ...ours, ...changed }]]) {
      equal(filterLogs(Buffer.from(answerOf(logs)), query), undefined, JSON.stringify(changed));
      throws(() => parseAll(logs), ProviderFailed, JSON.stringify(changed));
    }
  }
  ok(filterLogs(Buffer.from(answerOf([{ ...ours, logIndex: "0x7fffffff" }])), query));
});

test("errors, other results and logs outside the query are left to the general parser", () => {
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
    equal(filterLogs(Buffer.from(body), query), undefined, body.slice(0, 80));
  }
  deepEqual(filterLogs(Buffer.from('{"result":[],"id":1,"jsonrpc":"2.0"}\n'), query), {
    transfers: [],
    scannedCount: 0,
    lastBlockHash: undefined,
  });
});
