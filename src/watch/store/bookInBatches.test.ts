import { equal, ok } from "node:assert/strict";
import { describe, test } from "node:test";
import { thoroughDatabases, openTestDatabase } from "../../../test/support/database.ts";
import { assertLedgerAndWatchChecks } from "../../../test/support/ledgerAssertions.ts";
import {
  openLimitedProviderHarness,
  PAYERS,
  TOKENS,
  FAILURE_WAIT_MS,
} from "../../../test/support/limitedProviderHarness.ts";

// Many blocks may become final at once, after hours without finality. Booking takes several batches in separate
// transactions; each poll runs the next one.

const BATCH_MOVEMENTS_MAX = 3;
const BLOCKS = 20;
/** Payments per block; one block holds more than a batch. */
const COUNTS = [1, 2, 0, 5];

for (const kind of thoroughDatabases) {
  describe(`many blocks that become final at once on ${kind}`, () => {
    test("movements are booked in batches, also after a restart between two of them", async (context) => {
      const db = await openTestDatabase(kind);
      context.after(() => db.close());
      const limited = await openLimitedProviderHarness(db);
      const chain = limited.newChain();
      const first = await limited.outage(chain, 0, { finality: { safe: 1_000, final: 1_000 } });
      const [token = "", from = "", to = ""] = [TOKENS[0], PAYERS[0], limited.inboxes[0]];
      for (let block = 0; block < BLOCKS; block += 1) {
        const payments = COUNTS[block % COUNTS.length] ?? 0;
        chain.mine(Array.from({ length: payments }, () => [{ token, from, to, amountUnits: 7n }]));
      }
      chain.mine();
      await first.watchUntilHead();
      await limited.assertFound(chain);
      equal(await postings(), 0);

      let steps = 0;
      const step = async (watching: typeof first) => {
        const [before, { booked_number: from }] = [await postings(), await watching.cursor()];
        const { isBehind } = await watching.look();
        const [after, cursor] = [await postings(), await watching.cursor()];
        equal(cursor.finalized_number, BigInt(chain.head.number) - 1n, "finality does not wait for the books");
        ok(
          after - before <= BATCH_MOVEMENTS_MAX || cursor.booked_number === from + 1n,
          `${after - before} were booked at once`,
        );
        await assertLedgerAndWatchChecks(db);
        steps += 1;
        return isBehind;
      };
      const becomeFinal = (watching: typeof first) => {
        for (const provider of watching.providers) provider.profile = { finality: { safe: 1, final: 1 } };
        watching.world.batchMovementsMax = BATCH_MOVEMENTS_MAX;
      };
      becomeFinal(first);
      first.passed.ms += FAILURE_WAIT_MS;
      for (let looks = 0; looks < 3; looks += 1) equal(await step(first), true, "there is more to be booked");
      await first.close();

      const second = await limited.watch(chain, {});
      context.after(() => second.close());
      becomeFinal(second);
      while (await step(second)) ok(steps < 200, "it never ends");
      const cursor = await second.cursor();
      equal(cursor.booked_number, cursor.finalized_number);
      equal(await postings(), (BLOCKS / COUNTS.length) * 8);
      ok(steps >= 10, `${steps} steps`);

      async function postings(): Promise<number> {
        const rows = await db.root.selectFrom("ledger_posting").select("id").execute();
        return rows.length;
      }
    });
  });
}
