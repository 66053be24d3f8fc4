import { deepEqual, equal, ok, throws } from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../../../kernel/clock.ts";
import { ProviderFailed, type BlockRange, type TransferScope } from "../../reader.ts";
import { SkippedEntries } from "../../unreadable/unreadableEntry.ts";
import { LogWithoutBlock, parseTransfers, transferFilters } from "./parseTransfers.ts";
import { readInParts } from "./readInParts.ts";

const TOKEN = `0x${"aa".repeat(20)}`;
const HASH = `0x${"b1".repeat(32)}`;
const CHAIN_TX = `0x${"c2".repeat(32)}`;
const FROM = `0x${"0d".repeat(20)}`;
const TO = `0x${"0e".repeat(20)}`;
const TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
const word = (hex: string) => `0x${hex.slice(2).padStart(64, "0")}`;

const log = {
  address: TOKEN,
  topics: [TRANSFER, word(FROM), word(TO)],
  data: word("0x05"),
  blockNumber: "0x10",
  blockHash: HASH,
  transactionHash: CHAIN_TX,
  transactionIndex: "0x0",
  logIndex: "0x7",
  removed: false,
};
const byHash: TransferScope = { blockHash: HASH, blockNumber: 0x10n };
const byRange: TransferScope = { fromBlock: 0x10n, toBlock: 0x11n };
const read = (changed: object, scope: TransferScope = byHash) =>
  parseTransfers([{ ...log, ...changed }], scope, [TOKEN]);

test("a transfer's amount is read as text", () => {
  deepEqual(read({}), [
    {
      token: TOKEN,
      from: FROM,
      to: TO,
      amountText: word("0x05"),
      chainTx: CHAIN_TX,
      place: 7n,
      blockNumber: 16n,
      blockHash: HASH,
    },
  ]);
});

test("addresses and hashes are in stored form, whatever the provider's case", () => {
  const [transfer] = read({
    address: TOKEN.toUpperCase().replace("0X", "0x"),
    topics: [TRANSFER, word(FROM.replace("0d", "0D")), word(TO)],
    transactionHash: CHAIN_TX.replace("c2", "C2"),
    blockHash: HASH.replace("b1", "B1"),
  });
  deepEqual([transfer?.token, transfer?.from], [TOKEN, FROM]);
  deepEqual([transfer?.chainTx, transfer?.blockHash], [CHAIN_TX, HASH]);
});

for (const [what, changed] of Object.entries({
  "the transfer of a single thing (four topics)": { topics: [...log.topics, word("0x01")], data: "0x" },
  "an amount that is not one word": { data: `${log.data}00` },
  "a party that is no address": { topics: [TRANSFER, `0x01${word(FROM).slice(4)}`, word(TO)] },
})) {
  test(`${what} is skipped`, () => deepEqual(read(changed), []));
}

for (const [what, changed] of Object.entries({
  "a removed log": { removed: true },
  "a log of another contract": { address: `0x${"ab".repeat(20)}` },
  "another event": { topics: [word("0x01"), word(FROM), word(TO)] },
})) {
  test(`an answer with ${what} is refused as a whole`, () => {
    for (const scope of [byHash, byRange]) {
      throws(
        () => read(changed, scope),
        (error) => error instanceof ProviderFailed && error.kind === "bad_answer",
      );
    }
  });
}

const OF_BLOCK = "block 16";
for (const [what, changed] of Object.entries({
  "no block number": { blockNumber: "latest" },
  "a block number beyond its limit": { blockNumber: "0x8000000000000000" },
  "a block hash with other characters": { blockHash: `0x${"b1".repeat(31)}\u0000\u0000` },
  "no contract": { address: null },
  "no transaction": { transactionHash: null },
  "a transaction with other characters": { transactionHash: `0x${"c2".repeat(31)}zz` },
  "no index": { logIndex: null },
  "no topics": { topics: null },
  "an index beyond its limit": { logIndex: "0x80000000" },
  "an index without digits": { logIndex: "" },
  "an index in other digits": { logIndex: "0x7z" },
  "a sender with other characters": { topics: [TRANSFER, `${word(FROM).slice(0, 65)}\u0000`, word(TO)] },
  "a recipient with other characters": { topics: [TRANSFER, word(FROM), `${word(TO).slice(0, 65)}'`] },
  "an amount with other characters": { data: `${word("0x05").slice(0, 64)} 5` },
})) {
  test(`a log with ${what} is named, and left out where it has a row`, () => {
    const key = `${"transactionHash" in changed ? OF_BLOCK : CHAIN_TX}/log/${TOKEN}`;
    throws(
      () => read(changed),
      (error) => error instanceof ProviderFailed && error.kind === "unreadable" && error.unreadable[0]?.key === key,
    );
    const skipped = new SkippedEntries(systemClock);
    skipped.add([key]);
    deepEqual(read(changed, { ...byHash, skipped }), []);
  });
}

test("a log of a range that does not tell its block is named in a range of that block alone", () => {
  const changed = { blockNumber: null, blockHash: null };
  throws(() => read(changed, byRange), LogWithoutBlock);
  throws(
    () => read(changed, { fromBlock: 0x10n, toBlock: 0x10n }),
    (error) => error instanceof ProviderFailed && error.unreadable[0]?.blockNumber === 16n,
  );
  const skipped = new SkippedEntries(systemClock);
  skipped.add([`${CHAIN_TX}/log/${TOKEN}`]);
  deepEqual(read(changed, { ...byRange, skipped }), [], "its transaction names it where there is a row");
});

test("a range is read in parts down to such blocks, and not without end", async () => {
  const range = { fromBlock: 1n, toBlock: 2_000n };
  const asked: bigint[] = [];
  const readPart =
    (isOdd: (number: bigint) => boolean) =>
    async ({ fromBlock, toBlock }: BlockRange) => {
      asked.push(toBlock - fromBlock + 1n);
      const numbers = Array.from({ length: Number(toBlock - fromBlock) + 1 }, (_, index) => fromBlock + BigInt(index));
      const odd = numbers.filter(isOdd).map(() => ({ ...log, blockNumber: null }));
      const others = numbers.filter((number) => number % 500n === 0n && !isOdd(number));
      const logs = [...others.map((number) => ({ ...log, blockNumber: `0x${number.toString(16)}` })), ...odd];
      const hashes = new Map(others.map((number) => [`0x${number.toString(16)}`, word(`0x${number.toString(16)}`)]));
      return parseTransfers(
        logs.map((each) => ({ ...each, blockHash: hashes.get(each.blockNumber ?? "") ?? HASH })),
        { fromBlock, toBlock },
        [TOKEN],
      );
    };
  const unreadable = await readInParts(
    range,
    readPart((number) => number === 7n || number === 1_999n),
  ).catch((error: unknown) => error);
  ok(unreadable instanceof ProviderFailed && unreadable.kind === "unreadable");
  ok(asked.length < 50, String(asked.length));
  asked.length = 0;
  const wrong = await readInParts(
    range,
    readPart((number) => number % 10n === 0n),
  ).catch((error: unknown) => error);
  ok(wrong instanceof ProviderFailed && wrong.kind === "bad_answer");
  equal(asked.length, 100);
});

test("an answer with a log of another block is refused", () => {
  throws(
    () => read({ blockHash: `0x${"b2".repeat(32)}` }),
    (error) => error instanceof ProviderFailed && error.kind === "bad_answer",
  );
});

test("an answer that is no list, or holds null, is refused", () => {
  for (const answer of [null, {}, "0x", [null]]) throws(() => parseTransfers(answer, byHash, [TOKEN]), ProviderFailed);
});

test("a range holds only its blocks, each with one hash", () => {
  equal(read({}, byRange).length, 1);
  throws(() => read({ blockNumber: "0xf" }, byRange), ProviderFailed);
  throws(() => read({ blockNumber: "0x12" }, byRange), ProviderFailed);
  const twoHashes = [log, { ...log, logIndex: "0x8", blockHash: `0x${"b2".repeat(32)}` }];
  throws(() => parseTransfers(twoHashes, byRange, [TOKEN]), ProviderFailed);
});

test("parties are filtered on both sides", () => {
  deepEqual(transferFilters(byRange, [TOKEN], [TO]), [
    { fromBlock: "0x10", toBlock: "0x11", address: [TOKEN], topics: [TRANSFER, [word(TO)]] },
    { fromBlock: "0x10", toBlock: "0x11", address: [TOKEN], topics: [TRANSFER, null, [word(TO)]] },
  ]);
});
