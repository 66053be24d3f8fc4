import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import fc from "fast-check";
import { booksOf, type Books } from "../../test/support/books.ts";
import { databases, openTestDatabase } from "../../test/support/database.ts";
import { beginHearing, type Hearing } from "../../test/support/hearing.ts";
import type { Db } from "../db/database.ts";

// The same blocks, heard of in many ways. However a service came to know them, the books have to be those of a service that
// heard of each block when it was mined.

type Way = (hearing: Hearing) => Promise<void>;

/** Block after block, with something extra after each. */
const eachBlock =
  (afterwards?: Way): Way =>
  async (hearing) => {
    for (const place of hearing.history.eventful) {
      hearing.show(place);
      await hearing.turn();
      await afterwards?.(hearing);
    }
  };

const plain = eachBlock();

/** Those of the places after which a way looks; the last tip always comes at the end. */
async function atPlaces(hearing: Hearing, places: readonly number[]): Promise<void> {
  for (const place of places) {
    hearing.show(place);
    await hearing.turn();
  }
}

const ways: Record<string, Way> = {
  "in one range, long after it happened": async () => {},
  "in one step near the head": ({ history, ...hearing }) =>
    atPlaces({ history, ...hearing }, [history.tips.length - 35]),
  "two blocks of three skipped": (hearing) =>
    atPlaces(
      hearing,
      hearing.history.eventful.filter((place) => place % 3 === 2),
    ),
  "everything twice": eachBlock((hearing) => hearing.turn()),
  "replayed from older cursors after each block": eachBlock((hearing) => hearing.rewind(4)),
  "replayed from the beginning": async (hearing) => {
    await plain(hearing);
    await hearing.rewind(10_000);
  },
  "every transaction and inbox read again by hand": async (hearing) => {
    const { forkAt, leftAt, overtakenAt, tips } = hearing.history;
    for (const place of [forkAt, leftAt, overtakenAt, overtakenAt + 6, tips.length - 1]) {
      hearing.show(place);
      await hearing.turn();
      await hearing.rescan();
    }
  },
  "reorganised at the tip and back, several times": async (hearing) => {
    const { leftAt, overtakenAt } = hearing.history;
    await atPlaces(hearing, [
      leftAt - 1,
      leftAt,
      overtakenAt,
      leftAt,
      overtakenAt,
      leftAt - 2,
      overtakenAt + 1,
      leftAt,
    ]);
    await plain(hearing);
  },
  "the branch that was left never heard of": async (hearing) => {
    const { forkAt, leftAt, eventful } = hearing.history;
    await atPlaces(
      hearing,
      eventful.filter((place) => place <= forkAt || place > leftAt),
    );
  },
  "restarted after every step": async (hearing) => {
    for (const place of hearing.history.eventful) {
      hearing.show(place);
      for (const step of [hearing.look, hearing.take, hearing.count, hearing.settle]) {
        hearing.restart();
        await step();
      }
    }
  },
  "two processes in turn": eachBlock(async (hearing) => hearing.alternate()),
  "two processes at once": async (hearing) => {
    for (const place of hearing.history.eventful) {
      hearing.show(place);
      await hearing.together();
    }
  },
  "no logs at first, found when the blocks are final": async (hearing) => {
    hearing.history.tape.isWithholding = true;
    await plain(hearing);
  },
  "logs withheld on the branch that was left and after it": async (hearing) => {
    const { tape, forkAt, overtakenAt, eventful } = hearing.history;
    for (const place of eventful) {
      tape.isWithholding = place > forkAt && place < overtakenAt + 3;
      hearing.show(place);
      await hearing.turn();
    }
  },
  "hints before the looks": async (hearing) => {
    for (const place of hearing.history.eventful) {
      hearing.show(place);
      if (place % 4 === 0) await hearing.hint();
      await hearing.turn();
    }
  },
  "deposits taken over only at the end": async (hearing) => {
    for (const place of hearing.history.eventful) {
      hearing.show(place);
      await hearing.look();
    }
  },
  "settlements observed only at the end": async (hearing) => {
    for (const place of hearing.history.eventful) {
      hearing.show(place);
      await hearing.look();
      await hearing.take();
      await hearing.count();
    }
  },
};

/** On a server these take other ways than in the embedded database; the rest only takes longer there. */
const CONCURRENT = ["in one range, long after it happened", "restarted after every step", "two processes at once"];

for (const kind of databases) {
  describe(`arrival orders on ${kind}`, () => {
    let db: Db;
    let expected: Books;
    before(async () => {
      db = await openTestDatabase(kind);
      expected = await heard(plain);
    });
    after(() => db.close());

    async function heard(way: Way): Promise<Books> {
      const hearing = await beginHearing(db);
      await way(hearing);
      await hearing.finish();
      return booksOf(db, hearing.history);
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

    for (const [name, way] of Object.entries(ways)) {
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
const named = (name: string, way: Way): Way & { [fc.toStringMethod]: () => string } =>
  Object.assign((hearing: Hearing) => way(hearing), { [fc.toStringMethod]: () => name });

/** Places are shares of the history, so that a shrunken order still shows the same tips. */
const shown = fc
  .double({ min: 0, max: 0.45, noNaN: true })
  .map((share) =>
    named(`show ${share}`, async (hearing) => hearing.show(Math.floor(share * hearing.history.tips.length))),
  );

const step = fc.oneof(
  { weight: 6, arbitrary: shown },
  ...(
    [
      ["look", 6, (hearing) => hearing.look()],
      ["take", 4, (hearing) => hearing.take()],
      ["count", 3, (hearing) => hearing.count()],
      ["settle", 3, (hearing) => hearing.settle()],
      ["turn", 3, (hearing) => hearing.turn()],
      ["restart", 1, async (hearing) => hearing.restart()],
      ["alternate", 1, async (hearing) => hearing.alternate()],
      ["together", 1, (hearing) => hearing.together()],
      ["rewind", 1, (hearing) => hearing.rewind(3)],
      ["rescan", 1, (hearing) => hearing.rescan()],
      ["withhold", 1, async ({ history }) => void (history.tape.isWithholding = !history.tape.isWithholding)],
    ] satisfies [string, number, Way][]
  ).map(([name, weight, way]) => ({ weight, arbitrary: fc.constant(named(name, way)) })),
);
