import { deepEqual, throws } from "node:assert/strict";
import { test } from "node:test";
import { ProviderFailed, type TransferScope } from "../../reader.ts";
import { parseTransfers, TRANSFER_TOPIC } from "./parseTransfers.ts";
import { parseReceiptTransfers } from "./parseReceiptTransfers.ts";

const TOKEN = `0x${"aa".repeat(20)}`;
const HASH = `0x${"b1".repeat(32)}`;
const OTHER_HASH = `0x${"b2".repeat(32)}`;
const [FIRST, SECOND] = [`0x${"c1".repeat(32)}`, `0x${"c2".repeat(32)}`];
const word = (hex: string) => `0x${hex.slice(2).padStart(64, "0")}`;
const place = { blockNumber: "0x10", blockHash: HASH };

const logOf = (transactionHash: string, logIndex: number, changed: object = {}) => ({
  ...place,
  address: TOKEN,
  topics: [TRANSFER_TOPIC, word(`0x${"0d".repeat(20)}`), word(`0x${"0e".repeat(20)}`)],
  data: word("0x05"),
  transactionHash,
  logIndex: `0x${logIndex.toString(16)}`,
  removed: false,
  ...changed,
});
const receiptOf = (transactionHash: string, logs: readonly object[], changed: object = {}) => ({
  ...place,
  transactionHash,
  status: "0x1",
  logs,
  ...changed,
});

const asked = [logOf(FIRST, 1), logOf(SECOND, 3)];
const receipts = [
  receiptOf(FIRST, [logOf(FIRST, 0, { topics: [word("0x01")], data: "0x" }), asked[0] ?? {}]),
  receiptOf(SECOND, [logOf(SECOND, 2, { address: `0x${"ab".repeat(20)}` }), asked[1] ?? {}]),
];
const block = { number: "0x10", hash: HASH, transactions: [FIRST, SECOND] };
const byHash: TransferScope = { blockHash: HASH, blockNumber: 0x10n };
const byNumber: TransferScope = { fromBlock: 0x10n, toBlock: 0x10n };

test("the receipts of a block hold the transfers that its logs hold", () => {
  for (const scope of [byHash, byNumber])
    deepEqual(parseReceiptTransfers({ block, receipts }, scope, [TOKEN]), parseTransfers(asked, scope, [TOKEN]));
  deepEqual(
    parseReceiptTransfers({ block: { ...block, transactions: [] }, receipts: [] }, byHash, [TOKEN]),
    [],
    "a block of nothing",
  );
});

for (const [what, answers, kind] of [
  ["another block than the one asked for", { block: { ...block, hash: OTHER_HASH }, receipts }, "bad_answer"],
  [
    "a block and receipts that do not belong together",
    { block, receipts: receipts.map((receipt) => ({ ...receipt, blockHash: OTHER_HASH })) },
    "unknown_block",
  ],
  ["fewer receipts than transactions", { block, receipts: receipts.slice(1) }, "bad_answer"],
  ["no receipts at all", { block, receipts: [] }, "bad_answer"],
  ["no list of receipts", { block, receipts: null }, "bad_answer"],
  ["no transactions", { block: { number: "0x10", hash: HASH }, receipts }, "bad_answer"],
  ["a receipt without logs", { block, receipts: [receiptOf(FIRST, []), { ...receipts[1], logs: null }] }, "bad_answer"],
  [
    "a log of another block",
    { block, receipts: [receipts[0], receiptOf(SECOND, [logOf(SECOND, 3, { blockHash: OTHER_HASH })])] },
    "bad_answer",
  ],
] as const) {
  test(`${what}: the answer is refused as a whole`, () => {
    throws(
      () => parseReceiptTransfers(answers, byHash, [TOKEN]),
      (error) => error instanceof ProviderFailed && error.kind === kind,
    );
  });
}
