import { deepEqual, equal, ok } from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { fc } from "../../../test/support/properties.ts";
import { BookedHistory, INBOXES, type Step } from "../../../test/support/bookedHistory.ts";
import { thoroughDatabases, openTestDatabase } from "../../../test/support/database.ts";
import { assertLedgerAndWatchChecks } from "../../../test/support/ledgerAssertions.ts";
import type { Db } from "../../db/database.ts";
import type { Direction } from "../movement.ts";

// Generates a chain block by block, and reports it with gaps, false blocks and reorgs. Whatever the reports, the ledger
// must equal the chain up to the booked block.

const RUNS = 10;

const transfer = fc.record({
  inbox: fc.nat(INBOXES - 1),
  direction: fc.constantFrom<Direction>("in", "in", "out"),
  units: fc.integer({ min: 1, max: 9 }),
  to: fc.nat(2),
  bridgeFee: fc.option(fc.nat(2), { nil: undefined, freq: 3 }),
  isWithheld: fc.boolean(),
  joins: fc.boolean(),
});
const blocks = fc.array(fc.record({ transfers: fc.array(transfer, { maxLength: 3 }) }), { minLength: 1, maxLength: 4 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("blocks" as const), blocks }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("reorg" as const),
      depth: fc.integer({ min: 1, max: 8 }),
      keeps: fc.boolean(),
      length: fc.integer({ min: 1, max: 8 }),
    }),
  },
  { weight: 2, arbitrary: fc.constant({ kind: "find" as const }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("deny" as const), which: fc.nat(20) }) },
);

/** Books the next batch after an interruption. */
const stepOrBooking: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: step },
  { weight: 1, arbitrary: fc.constant({ kind: "turn" as const }) },
);

for (const kind of thoroughDatabases) {
  describe(`booking a chain on ${kind}`, () => {
    let db: Db;
    before(async () => {
      db = await openTestDatabase(kind);
    });
    after(() => db.close());

    test("the ledger equals the chain up to the booked block, after any reports in any order", async () => {
      let runs = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 10 }), async (steps) => {
          const history = await BookedHistory.begin(db, `eip155:${(runs += 1)}`);
          for (const each of steps) {
            await history.applyStep(each);
            deepEqual(await history.booked(), history.expected());
          }
          await assertLedgerAndWatchChecks(db);
        }),
        { numRuns: RUNS, endOnFailure: true },
      );
    });

    test("booking in batches equals the chain up to the booked block, also after a reorg between two batches", async () => {
      let runs = 0;
      let left = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(stepOrBooking, { minLength: 4, maxLength: 12 }), async (steps) => {
          const history = await BookedHistory.begin(db, `eip155:2${(runs += 1)}`, { batchMovementsMax: 2 });
          for (const each of steps) {
            await history.applyStep(each);
            const { bookedNumber, isWhole } = await history.readBookedState();
            left += isWhole ? 0 : 1;
            deepEqual(await history.booked(), history.expected(bookedNumber));
            await assertLedgerAndWatchChecks(db);
          }
          while (!(await history.readBookedState()).isWhole) await history.applyStep({ kind: "turn" });
          deepEqual(await history.booked(), history.expected((await history.readBookedState()).bookedNumber));
          await assertLedgerAndWatchChecks(db);
        }),
        { numRuns: RUNS, endOnFailure: true },
      );
      ok(left > 0, "they were left behind now and then");
    });

    test("a batch holds whole blocks, at most its limit of movements, and at least one block", async () => {
      const history = await BookedHistory.begin(db, "eip155:901", { batchMovementsMax: 4 });
      const one = { inbox: 0, direction: "in" as const, units: 1, to: 0, isWithheld: false };
      const counts = [1, 2, 2, 5, 0, 3, 0, 0, 0];
      const made = counts.map((count) => ({ transfers: Array.from({ length: count }, () => one) }));
      await history.applyStep({ kind: "blocks", blocks: made });
      const reached: bigint[] = [];
      for (let steps = 0; steps < 5; steps += 1) {
        reached.push((await history.readBookedState()).bookedNumber);
        await history.applyStep({ kind: "turn" });
      }
      deepEqual(reached, [2n, 3n, 4n, 7n, 7n]);
    });

    test("a movement replaced before its batch is booked in its new block, and a booked one is reversed", async () => {
      const history = await BookedHistory.begin(db, "eip155:902", { batchMovementsMax: 2 });
      const transfers = [1, 2].map((units) => ({
        inbox: 0,
        direction: "in" as const,
        units,
        to: 0,
        isWithheld: false,
      }));
      await history.applyStep({ kind: "blocks", blocks: [1, 2, 3, 4, 5, 6].map(() => ({ transfers })) });
      await history.applyStep({ kind: "turn" });
      equal((await history.readBookedState()).bookedNumber, 2n);
      await history.applyStep({ kind: "reorg", depth: 5, keeps: true, length: 7 });
      for (let steps = 0; steps < 5; steps += 1) {
        deepEqual(await history.booked(), history.expected((await history.readBookedState()).bookedNumber));
        await assertLedgerAndWatchChecks(db);
        await history.applyStep({ kind: "turn" });
      }
      deepEqual(await history.readBookedState(), { bookedNumber: 6n, isWhole: true });
      deepEqual(await history.booked(), history.expected());
    });

    test("a transfer out that is found late leaves what a bridge gave in the same transaction booked", async () => {
      const history = await BookedHistory.begin(db, "eip155:903");
      const given = { inbox: 0, direction: "in" as const, units: 9, to: 0, bridgeFee: 2, isWithheld: false };
      const paid = { inbox: 0, direction: "out" as const, to: 0, joins: true };
      const transfers = [
        given,
        { ...paid, units: 5, isWithheld: false },
        { ...paid, units: 4, to: 1, isWithheld: true },
      ];
      await history.applyStep({ kind: "blocks", blocks: [{ transfers }, ...[1, 2, 3].map(() => ({ transfers: [] }))] });
      await history.applyStep({ kind: "find" });
      deepEqual(await history.booked(), history.expected());
      await assertLedgerAndWatchChecks(db);
    });

    test("a tag without final blocks keeps the booked block", async () => {
      const history = await BookedHistory.begin(db, "eip155:900", { tier: { tag: "finalized" } });
      await history.applyStep({
        kind: "blocks",
        blocks: [{ transfers: [{ inbox: 0, direction: "in", units: 5, to: 0, isWithheld: false }] }],
      });
      deepEqual(await history.booked(), {});
    });
  });
}
