import { deepEqual, equal } from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import { sql } from "kysely";
import type { Db } from "../../db/database.ts";
import { openTestDatabase } from "../../../test/support/database.ts";
import { insertCursor } from "./store.ts";
import { listHeights, onlyChain } from "./chainReads.ts";

const CHAIN = "eip155:900001";
const AT = new Date("2026-11-24T00:00:00Z");
const hashOf = (number: number) => `0x${String(number).padStart(64, "0")}`;

describe("blocks that are as old as a rule in seconds asks", () => {
  let db: Db;
  before(async () => {
    db = await openTestDatabase("postgres");
  });
  after(() => db.close());
  beforeEach(async () => {
    await sql`delete from block`.execute(db.root);
    await sql`delete from chain_cursor`.execute(db.root);
  });

  /** Records blocks from 1 on, with these times. */
  async function record(...timesS: readonly number[]): Promise<void> {
    const blocks = timesS.map((timestampS, index) => ({
      number: BigInt(index + 1),
      hash: hashOf(index + 1),
      parentHash: hashOf(index),
      timestampS,
    }));
    const [head, ...ancestors] = blocks.toReversed();
    if (head === undefined) throw new Error("no block");
    await db.transaction((tx) => insertCursor(tx, { chain: CHAIN, genesisHash: null, head, ancestors, at: AT }));
  }
  async function agedBy(seconds: number): Promise<bigint | undefined> {
    const heights = await listHeights(db.root, [{ chain: CHAIN, seconds: [seconds] }]);
    return heights.get(CHAIN)?.agedNumbers?.get(seconds);
  }

  test("the highest of several blocks with one time", async () => {
    await record(100, 100, 100, 101, 101, 103);
    equal(await agedBy(2), 5n);
    equal(await agedBy(3), 3n);
    equal(await agedBy(4), undefined);
  });

  test("never the newest block, however late it is", async () => {
    await record(100, 900);
    equal(await agedBy(1), 1n);
    await sql`update block set timestamp_s = 1`.execute(db.root);
    equal(await agedBy(1), undefined, "no block is a second older than another");
  });

  test("a replaced block is neither old nor the newest", async () => {
    await record(100, 101, 105);
    await sql`update block set orphaned_at = ${AT} where number = 2`.execute(db.root);
    equal(await agedBy(1), 1n);
    await sql`update block set orphaned_at = ${AT} where number = 3`.execute(db.root);
    equal(await agedBy(1), undefined);
  });

  test("a block whose time is not recorded is never old", async () => {
    await record(100, 101, 105);
    await sql`update block set timestamp_s = null where number < 3`.execute(db.root);
    equal(await agedBy(1), undefined);
  });

  test("heights of a chain without such a rule come as before", async () => {
    await record(100, 101);
    const heights = await listHeights(db.root, []);
    deepEqual([...(await listHeights(db.root, [], onlyChain("eip155:0"))).keys()], []);
    deepEqual(heights.get(CHAIN), { chain: CHAIN, number: 2n, safeNumber: -1n, finalizedNumber: -1n });
  });
});
