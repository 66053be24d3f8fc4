import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import type { MovementRow, Sighting } from "./movement.ts";
import { merge } from "./readAgain.ts";

const SIGHTING: Sighting = {
  direction: "in",
  inbox: "0x01",
  token: "0x02",
  counterparty: "0x03",
  amountUnits: 5n,
  chainTx: "0x04",
  position: 0,
  logIndex: 0,
  blockNumber: 9n,
  blockHash: "0x09",
};
const ROW = {
  id: 1n,
  chain_tx: "0x04",
  position: 0,
  direction: "in",
  inbox: "0x01",
  token: "0x02",
  amount_units: 5n,
} as unknown as MovementRow;
const silent = { told: [], absent: [] };

test("what one of several tells of for the first time is recorded", () => {
  const told = { told: [SIGHTING], absent: [] };
  deepEqual(merge([silent, told], { recorded: [], providers: 2 }).sightings, [SIGHTING]);
});

test("where they tell it differently the version of most is taken, once", () => {
  const altered = { ...SIGHTING, amountUnits: 9n };
  const seconds = [altered, SIGHTING, SIGHTING].map((sighting) => ({ told: [sighting], absent: [] }));
  deepEqual(merge(seconds, { recorded: [], providers: 2 }).sightings, [SIGHTING]);
});

test("what is recorded is changed only when enough say so, and more than do not", () => {
  const altered = { told: [{ ...SIGHTING, amountUnits: 9n }], absent: [] };
  const of = { recorded: [ROW], providers: 2 };
  deepEqual(merge([altered, silent], of), { sightings: [], gone: [], isDisputed: true });
  deepEqual(merge([altered, silent, silent], of), { sightings: [], gone: [], isDisputed: false });
  deepEqual(merge([altered, altered, silent], of).sightings, altered.told);
  deepEqual(merge([altered, altered, silent, silent], of).sightings, []);
});

test("what is recorded is taken back only when enough do not have it, and more than do", () => {
  const lacking = { told: [], absent: [ROW] };
  const of = { recorded: [ROW], providers: 2 };
  deepEqual(merge([lacking, silent], of), { sightings: [], gone: [], isDisputed: true });
  deepEqual(merge([lacking, silent, silent], of), { sightings: [], gone: [], isDisputed: false });
  deepEqual(merge([lacking, lacking, silent], of).gone, [ROW]);
  deepEqual(merge([lacking, lacking, silent, silent], of).gone, []);
});

test("what left an inbox is recorded only by the word of enough: it would make a settlement look landed", () => {
  const left = { told: [{ ...SIGHTING, direction: "out" as const }], absent: [] };
  const of = { recorded: [], providers: 2 };
  deepEqual(merge([left, silent, silent], of), { sightings: [], gone: [], isDisputed: false });
  deepEqual(merge([left, silent], of), { sightings: [], gone: [], isDisputed: true });
  deepEqual(merge([left, left, silent], of).sightings, left.told);
});
