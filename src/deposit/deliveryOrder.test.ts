import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import fc from "fast-check";
import { summarizeState, type StateSummary } from "../../test/support/summarizeState.ts";
import { databases, openTestDatabase } from "../../test/support/database.ts";
import { createReplayHarness, type ReplayHarness } from "../../test/support/replayHarness.ts";
import type { Db } from "../db/database.ts";

// The same blocks, heard of in many ways. However a service came to know them, the books have to be those of a service that
// heard of each block when it was mined.

type DeliveryOrder = (hearing: ReplayHarness) => Promise<void>;

/** Block after block, with something extra after each. */
const blockByBlock =
  (afterwards?: DeliveryOrder): DeliveryOrder =>
  async (hearing) => {
    for (const place of hearing.history.activeTips) {
      hearing.showTip(place);
      await hearing.tick();
      await afterwards?.(hearing);
    }
  };

const inOrder = blockByBlock();

/** Those of the places after which a way looks; the last tip always comes at the end. */
async function deliverAt(hearing: ReplayHarness, places: readonly number[]): Promise<void> {
  for (const place of places) {
    hearing.showTip(place);
    await hearing.tick();
  }
}

const deliveryOrders: Record<string, DeliveryOrder> = {
  "in one range, long after it happened": async () => {},
  "in one step near the head": ({ history, ...hearing }) =>
    deliverAt({ history, ...hearing }, [history.tips.length - 35]),
  "two blocks of three skipped": (hearing) =>
    deliverAt(
      hearing,
      hearing.history.activeTips.filter((place) => place % 3 === 2),
    ),
  "everything twice": blockByBlock((hearing) => hearing.tick()),
  "replayed from older cursors after each block": blockByBlock((hearing) => hearing.rewind(4)),
  "replayed from the beginning": async (hearing) => {
    await inOrder(hearing);
    await hearing.rewind(10_000);
  },
  "every transaction and inbox read again by hand": async (hearing) => {
    const { forkAt, orphanedAt, reorgAt, tips } = hearing.history;
    for (const place of [forkAt, orphanedAt, reorgAt, reorgAt + 6, tips.length - 1]) {
      hearing.showTip(place);
      await hearing.tick();
      await hearing.rescan();
    }
  },
  "reorganised at the tip and back, several times": async (hearing) => {
    const { orphanedAt, reorgAt } = hearing.history;
    await deliverAt(hearing, [
      orphanedAt - 1,
      orphanedAt,
      reorgAt,
      orphanedAt,
      reorgAt,
      orphanedAt - 2,
      reorgAt + 1,
      orphanedAt,
    ]);
    await inOrder(hearing);
  },
  "the branch that was left never heard of": async (hearing) => {
    const { forkAt, orphanedAt, activeTips } = hearing.history;
    await deliverAt(
      hearing,
      activeTips.filter((place) => place <= forkAt || place > orphanedAt),
    );
  },
  "restarted after every step": async (hearing) => {
    for (const place of hearing.history.activeTips) {
      hearing.showTip(place);
      for (const step of [hearing.watch, hearing.takeMovements, hearing.countDeposits, hearing.settle]) {
        hearing.restart();
        await step();
      }
    }
  },
  "two processes in turn": blockByBlock(async (hearing) => hearing.switchProcess()),
  "two processes at once": async (hearing) => {
    for (const place of hearing.history.activeTips) {
      hearing.showTip(place);
      await hearing.tickConcurrently();
    }
  },
  "no logs at first, found when the blocks are final": async (hearing) => {
    hearing.history.recordedChain.omitsLogs = true;
    await inOrder(hearing);
  },
  "logs withheld on the branch that was left and after it": async (hearing) => {
    const { recordedChain, forkAt, reorgAt, activeTips } = hearing.history;
    for (const place of activeTips) {
      recordedChain.omitsLogs = place > forkAt && place < reorgAt + 3;
      hearing.showTip(place);
      await hearing.tick();
    }
  },
  "hints before the looks": async (hearing) => {
    for (const place of hearing.history.activeTips) {
      hearing.showTip(place);
      if (place % 4 === 0) await hearing.sendHints();
      await hearing.tick();
    }
  },
  "deposits taken over only at the end": async (hearing) => {
    for (const place of hearing.history.activeTips) {
      hearing.showTip(place);
      await hearing.watch();
    }
  },
  "settlements observed only at the end": async (hearing) => {
    for (const place of hearing.history.activeTips) {
      hearing.showTip(place);
      await hearing.watch();
      await hearing.takeMovements();
      await hearing.countDeposits();
    }
  },
};

/** On a server these take other ways than in the embedded database; the rest only takes longer there. */
const CONCURRENT = ["in one range, long after it happened", "restarted after every step", "two processes at once"];

for (const kind of databases) {
  describe(`arrival orders on ${kind}`, () => {
    let db: Db;
    let expected: StateSummary;
    before(async () => {
      db = await openTestDatabase(kind);
      expected = await heard(inOrder);
    });
    after(() => db.close());

    async function heard(way: DeliveryOrder): Promise<StateSummary> {
      const hearing = await createReplayHarness(db);
      await way(hearing);
      await hearing.runToEnd();
      return summarizeState(db, hearing.history);
    }

    test("block by block the books say what happened", () => {
      assert.deepEqual(Object.fromEntries(Object.entries(expected).map(([label, [tallies]]) => [label, tallies])), {
        oneTime: "settled received 1010 counted 1010 settled 1010 fee 5 net 1005 pending 0",
        repeatable: "active received 53 counted 53 settled 12 fee 0 net 12 pending 0",
        dust: "active received 2400 counted 2200 settled 1500 fee 7 net 1493 pending 0",
        under: "active received 2001 counted 2001 settled 2001 fee 10 net 1991 pending 0",
        over: "settled received 751 counted 751 settled 750 fee 3 net 747 pending 0",
      });
    });

    for (const [name, way] of Object.entries(deliveryOrders)) {
      if (kind === "postgres" && !CONCURRENT.includes(name)) continue;
      test(`the same blocks, ${name}, make the same books`, async () => {
        assert.deepEqual(await heard(way), expected);
      });
    }

    test("the same blocks, in an order nobody thought of, make the same books", async () => {
      const runs = kind === "pglite" ? 12 : 4;
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 60 }), async (steps) => {
          const books = await heard(async (hearing) => {
            for (const take of steps) await take(hearing);
          });
          assert.deepEqual(books, expected);
        }),
        { numRuns: runs, endOnFailure: true },
      );
    });
  });
}

/** One thing that happens to a service, with a name that shows in a failure. */
const withName = (name: string, way: DeliveryOrder): DeliveryOrder & { [fc.toStringMethod]: () => string } =>
  Object.assign((hearing: ReplayHarness) => way(hearing), { [fc.toStringMethod]: () => name });

/** Places are shares of the history, so that a shrunken order still shows the same tips. */
const shown = fc
  .double({ min: 0, max: 0.45, noNaN: true })
  .map((share) =>
    withName(`show ${share}`, async (hearing) => hearing.showTip(Math.floor(share * hearing.history.tips.length))),
  );

const step = fc.oneof(
  { weight: 6, arbitrary: shown },
  ...(
    [
      ["look", 6, (hearing) => hearing.watch()],
      ["take", 4, (hearing) => hearing.takeMovements()],
      ["count", 3, (hearing) => hearing.countDeposits()],
      ["settle", 3, (hearing) => hearing.settle()],
      ["turn", 3, (hearing) => hearing.tick()],
      ["restart", 1, async (hearing) => hearing.restart()],
      ["alternate", 1, async (hearing) => hearing.switchProcess()],
      ["together", 1, (hearing) => hearing.tickConcurrently()],
      ["rewind", 1, (hearing) => hearing.rewind(3)],
      ["rescan", 1, (hearing) => hearing.rescan()],
      ["withhold", 1, async ({ history }) => void (history.recordedChain.omitsLogs = !history.recordedChain.omitsLogs)],
    ] satisfies [string, number, DeliveryOrder][]
  ).map(([name, weight, way]) => ({ weight, arbitrary: fc.constant(withName(name, way)) })),
);
