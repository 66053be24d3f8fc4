import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import type { MovementRow, LocatedTransfer } from "../movement.ts";
import { mergeReadings } from "./rereadRange.ts";

const LOCATED_TRANSFER: LocatedTransfer = {
  direction: "in",
  inbox: "0x01",
  token: "0x02",
  counterparty: "0x03",
  amountUnits: 5n,
  chainTx: "0x04",
  identity: "0",
  place: 0n,
  blockNumber: 9n,
  blockHash: "0x09",
};
const ROW = {
  id: 1n,
  chain_tx: "0x04",
  identity: "0",
  direction: "in",
  inbox: "0x01",
  token: "0x02",
  amount_units: 5n,
} as unknown as MovementRow;
const emptyReading = { unrecorded: [], absent: [] };

test("a new movement from one of several readings is recorded", () => {
  const reported = { unrecorded: [LOCATED_TRANSFER], absent: [] };
  deepEqual(mergeReadings([emptyReading, reported], { recorded: [], providers: 2 }).located, [LOCATED_TRANSFER]);
});

test("of differing versions the most frequent is recorded, once", () => {
  const altered = { ...LOCATED_TRANSFER, amountUnits: 9n };
  const seconds = [altered, LOCATED_TRANSFER, LOCATED_TRANSFER].map((transfer) => ({
    unrecorded: [transfer],
    absent: [],
  }));
  deepEqual(mergeReadings(seconds, { recorded: [], providers: 2 }).located, [LOCATED_TRANSFER]);
});

test("a recorded movement changes only with enough readings and a majority", () => {
  const altered = { unrecorded: [{ ...LOCATED_TRANSFER, amountUnits: 9n }], absent: [] };
  const context = { recorded: [ROW], providers: 2 };
  deepEqual(mergeReadings([altered, emptyReading], context), { located: [], removed: [], isDisputed: true });
  deepEqual(mergeReadings([altered, emptyReading, emptyReading], context), {
    located: [],
    removed: [],
    isDisputed: false,
  });
  deepEqual(mergeReadings([altered, altered, emptyReading], context).located, altered.unrecorded);
  deepEqual(mergeReadings([altered, altered, emptyReading, emptyReading], context).located, []);
});

test("a crossing is another content of the same transfer", () => {
  const crossing = { crossingName: "cctp-v2/1/0x05", feeUnits: 1n };
  const seconds = [undefined, crossing, { ...crossing, feeUnits: 2n }].map((end) => ({
    unrecorded: [{ ...LOCATED_TRANSFER, crossing: end }],
    absent: [],
  }));
  const context = { recorded: [ROW], providers: 2 };
  deepEqual(mergeReadings(seconds, context), { located: [], removed: [], isDisputed: true });
  const [, own] = seconds;
  if (own) deepEqual(mergeReadings([own, ...seconds.slice(0, 2)], context).located, own.unrecorded);
});

test("a recorded movement is orphaned only with enough readings and a majority", () => {
  const lacking = { unrecorded: [], absent: [ROW] };
  const context = { recorded: [ROW], providers: 2 };
  deepEqual(mergeReadings([lacking, emptyReading], context), { located: [], removed: [], isDisputed: true });
  deepEqual(mergeReadings([lacking, emptyReading, emptyReading], context), {
    located: [],
    removed: [],
    isDisputed: false,
  });
  deepEqual(mergeReadings([lacking, lacking, emptyReading], context).removed, [ROW]);
  deepEqual(mergeReadings([lacking, lacking, emptyReading, emptyReading], context).removed, []);
});

test("a movement out of an inbox needs enough readings, because it makes a settlement look landed", () => {
  const left = { unrecorded: [{ ...LOCATED_TRANSFER, direction: "out" as const }], absent: [] };
  const context = { recorded: [], providers: 2 };
  deepEqual(mergeReadings([left, emptyReading, emptyReading], context), {
    located: [],
    removed: [],
    isDisputed: false,
  });
  deepEqual(mergeReadings([left, emptyReading], context), { located: [], removed: [], isDisputed: true });
  deepEqual(mergeReadings([left, left, emptyReading], context).located, left.unrecorded);
});
