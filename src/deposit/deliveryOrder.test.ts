import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { fc } from "../../test/support/properties.ts";
import { summarizeState, type StateSummary } from "../../test/support/summarizeState.ts";
import { thoroughDatabases, openTestDatabase } from "../../test/support/database.ts";
import { createReplayHarness, type ReplayHarness } from "../../test/support/replayHarness.ts";
import type { Db } from "../db/database.ts";

// Delivers the same blocks in many orders. Each order must produce the same state as a service that reads each block
// when it is mined.

type DeliveryOrder = (harness: ReplayHarness) => Promise<void>;

/** Delivers block by block, and runs `afterwards` after each. */
const blockByBlock =
  (afterwards?: DeliveryOrder): DeliveryOrder =>
  async (harness) => {
    for (const tip of harness.history.activeTips) {
      harness.showTip(tip);
      await harness.tick();
      await afterwards?.(harness);
    }
  };

const inOrder = blockByBlock();

/** Delivers only the given tips; `runToEnd` always delivers the last one. */
async function deliverAt(harness: ReplayHarness, tips: readonly number[]): Promise<void> {
  for (const tip of tips) {
    harness.showTip(tip);
    await harness.tick();
  }
}

const deliveryOrders: Record<string, DeliveryOrder> = {
  "in one range, long after it happened": async () => {},
  "in one step near the head": ({ history, ...harness }) =>
    deliverAt({ history, ...harness }, [history.tips.length - 35]),
  "two blocks of three skipped": (harness) =>
    deliverAt(
      harness,
      harness.history.activeTips.filter((tip) => tip % 3 === 2),
    ),
  "everything twice": blockByBlock((harness) => harness.tick()),
  "replayed from older cursors after each block": blockByBlock((harness) => harness.rewind(4)),
  "replayed from the beginning": async (harness) => {
    await inOrder(harness);
    await harness.rewind(10_000);
  },
  "every transaction and inbox read again by hand": async (harness) => {
    const { forkAt, orphanedAt, reorgAt, tips } = harness.history;
    for (const tip of [forkAt, orphanedAt, reorgAt, reorgAt + 6, tips.length - 1]) {
      harness.showTip(tip);
      await harness.tick();
      await harness.rescan();
    }
  },
  "reorganised at the tip and back, several times": async (harness) => {
    const { orphanedAt, reorgAt } = harness.history;
    await deliverAt(harness, [
      orphanedAt - 1,
      orphanedAt,
      reorgAt,
      orphanedAt,
      reorgAt,
      orphanedAt - 2,
      reorgAt + 1,
      orphanedAt,
    ]);
    await inOrder(harness);
  },
  "orphaned branch never read": async (harness) => {
    const { forkAt, orphanedAt, activeTips } = harness.history;
    await deliverAt(
      harness,
      activeTips.filter((tip) => tip <= forkAt || tip > orphanedAt),
    );
  },
  "restarted after every step": async (harness) => {
    for (const tip of harness.history.activeTips) {
      harness.showTip(tip);
      for (const step of [harness.watch, harness.takeMovements, harness.countDeposits, harness.settle]) {
        harness.restart();
        await step();
      }
    }
  },
  "two processes in turn": blockByBlock(async (harness) => harness.switchProcess()),
  "two processes at once": async (harness) => {
    for (const tip of harness.history.activeTips) {
      harness.showTip(tip);
      await harness.tickConcurrently();
    }
  },
  "no logs at first, found when the blocks are final": async (harness) => {
    harness.history.recordedChain.omitsLogs = true;
    await inOrder(harness);
  },
  "logs withheld on the orphaned branch and after it": async (harness) => {
    const { recordedChain, forkAt, reorgAt, activeTips } = harness.history;
    for (const tip of activeTips) {
      recordedChain.omitsLogs = tip > forkAt && tip < reorgAt + 3;
      harness.showTip(tip);
      await harness.tick();
    }
  },
  "hints before each read": async (harness) => {
    for (const tip of harness.history.activeTips) {
      harness.showTip(tip);
      if (tip % 4 === 0) await harness.sendHints();
      await harness.tick();
    }
  },
  "movements processed only at the end": async (harness) => {
    for (const tip of harness.history.activeTips) {
      harness.showTip(tip);
      await harness.watch();
    }
  },
  "settlements observed only at the end": async (harness) => {
    for (const tip of harness.history.activeTips) {
      harness.showTip(tip);
      await harness.watch();
      await harness.takeMovements();
      await harness.countDeposits();
    }
  },
};

/** Orders that take other code paths on a server than in the embedded database; the others only run longer there. */
const CONCURRENT = ["in one range, long after it happened", "restarted after every step", "two processes at once"];

for (const kind of thoroughDatabases) {
  describe(`delivery orders on ${kind}`, () => {
    let db: Db;
    let expected: StateSummary;
    before(async () => {
      db = await openTestDatabase(kind);
      expected = await stateAfter(inOrder);
    });
    after(() => db.close());

    async function stateAfter(order: DeliveryOrder): Promise<StateSummary> {
      const harness = await createReplayHarness(db);
      await order(harness);
      await harness.runToEnd();
      return summarizeState(db, harness.history);
    }

    test("block by block the state matches the history", () => {
      assert.deepEqual(Object.fromEntries(Object.entries(expected).map(([label, [tallies]]) => [label, tallies])), {
        oneTime: "settled received 1010 counted 1010 settled 1010 fee 5 net 1005 pending 0",
        repeatable: "active received 53 counted 53 settled 12 fee 0 net 12 pending 0",
        dust: "active received 2400 counted 2200 settled 1500 fee 7 net 1493 pending 0",
        under: "active received 2001 counted 2001 settled 2001 fee 10 net 1991 pending 0",
        over: "settled received 751 counted 751 settled 750 fee 3 net 747 pending 0",
      });
    });

    for (const [name, order] of Object.entries(deliveryOrders)) {
      if (kind === "postgres" && !CONCURRENT.includes(name)) continue;
      test(`the same blocks, ${name}, produce the same state`, async () => {
        assert.deepEqual(await stateAfter(order), expected);
      });
    }

    test("the same blocks, in a random order, produce the same state", async () => {
      const runs = kind === "pglite" ? 12 : 4;
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 60 }), async (steps) => {
          const state = await stateAfter(async (harness) => {
            for (const runStep of steps) await runStep(harness);
          });
          assert.deepEqual(state, expected);
        }),
        { numRuns: runs, endOnFailure: true },
      );
    });
  });
}

/** Names a step, so that a failure shows it. */
const withName = (name: string, order: DeliveryOrder): DeliveryOrder & { [fc.toStringMethod]: () => string } =>
  Object.assign((harness: ReplayHarness) => order(harness), { [fc.toStringMethod]: () => name });

/** Tips are fractions of the history, so that a shrunken order still shows the same tips. */
const shown = fc
  .double({ min: 0, max: 0.45, noNaN: true })
  .map((share) =>
    withName(`show ${share}`, async (harness) => harness.showTip(Math.floor(share * harness.history.tips.length))),
  );

const step = fc.oneof(
  { weight: 6, arbitrary: shown },
  ...(
    [
      ["watch", 6, (harness) => harness.watch()],
      ["process", 4, (harness) => harness.takeMovements()],
      ["count", 3, (harness) => harness.countDeposits()],
      ["settle", 3, (harness) => harness.settle()],
      ["tick", 3, (harness) => harness.tick()],
      ["restart", 1, async (harness) => harness.restart()],
      ["switch process", 1, async (harness) => harness.switchProcess()],
      ["tick concurrently", 1, (harness) => harness.tickConcurrently()],
      ["rewind", 1, (harness) => harness.rewind(3)],
      ["rescan", 1, (harness) => harness.rescan()],
      [
        "toggle logs",
        1,
        async ({ history }) => void (history.recordedChain.omitsLogs = !history.recordedChain.omitsLogs),
      ],
    ] satisfies [string, number, DeliveryOrder][]
  ).map(([name, weight, order]) => ({ weight, arbitrary: fc.constant(withName(name, order)) })),
);
