import { deepEqual } from "node:assert/strict";
import { describe, test } from "node:test";
import type { ProvenTransfer } from "../chain/reader.ts";
import { BatchPayments } from "./nettedBatch.ts";

/** `[from, to, units]`, with a token that is not `token` last. */
type Line = readonly [from: string, to: string, units: number, token?: string];

function transfersOf(lines: readonly Line[]): ProvenTransfer[] {
  return lines.map(([from, to, units, token = "token"], index) => ({
    token,
    from,
    to,
    amountText: String(units),
    place: BigInt(index),
  }));
}

/** What the hub paid for the pull at a place: recipients and units, or nothing. */
function paymentAt(lines: readonly Line[], place: number): unknown {
  const payments = new BatchPayments(transfersOf(lines).toReversed());
  const found = payments.find({ token: "token", counterparty: "hub", place: BigInt(place) });
  return found && [Number(found.place), found.payout, found.second?.to, found.second?.amountUnits];
}

const BATCH: readonly Line[] = [
  ["one", "hub", 10_001],
  ["two", "hub", 10_199],
  ["hub", "shop", 20_100],
  ["hub", "fees", 100],
];

describe("the payments of netted batches", () => {
  test("every pull has the payments of its own sequence", () => {
    const lines: Line[] = [
      ...BATCH,
      ["one", "hub", 199],
      ["hub", "shop", 199],
      ...BATCH.slice(0, 2),
      ["hub", "shop", 20_100],
    ];
    deepEqual(paymentAt(lines, 0), [3, "shop", "fees", 100n]);
    deepEqual(paymentAt(lines, 1), [3, "shop", "fees", 100n]);
    deepEqual(paymentAt(lines, 4), [5, "shop", undefined, undefined]);
    deepEqual(paymentAt([...lines, ["hub", "shop", 100]], 6), [9, "shop", "shop", 100n]);
  });

  test("transfers of strangers, of other tokens and of nothing change no sequence", () => {
    const lines: Line[] = [
      ["stranger", "hub", 5],
      ...BATCH.slice(0, 2),
      ["hub", "stranger", 0],
      ["stranger", "hub", 7, "other"],
      ["hub", "stranger", 9, "other"],
      ...BATCH.slice(2),
      ["stranger", "hub", 777],
      ["stranger", "shop", 777],
    ];
    deepEqual(paymentAt(lines, 1), [7, "shop", "fees", 100n]);
    deepEqual(paymentAt(lines, 8), undefined);
  });

  test("a stranger's batch that pays the hub itself is a sequence of its own", () => {
    const lines: Line[] = [["own", "hub", 1_000], ["hub", "hub", 995], ["hub", "hub", 5], ...BATCH];
    deepEqual(paymentAt(lines, 3), [6, "shop", "fees", 100n]);
  });

  test("money that the hub keeps, and more payments than a sequence has, show no payment", () => {
    deepEqual(paymentAt(BATCH.slice(0, 2), 0), undefined);
    deepEqual(paymentAt([...BATCH, ["hub", "shop", 1]], 0), undefined);
  });
});
