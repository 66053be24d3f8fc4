import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { openTestDatabase } from "../../test/support/database.ts";
import { openScriptedRoads, type RoadChain, type ScriptedRoads } from "../../test/support/scriptedRoads.ts";
import type { Db } from "../db/database.ts";
import { processMovements } from "./processMovements.ts";

const HEALTHY = 200;
/** The halves that contain one intent of 201, with their other halves, and what surrounds them. */
const TRANSACTIONS_MAX = 24;

let db: Db;
let roads: ScriptedRoads;
let chain: RoadChain;
before(async () => {
  db = await openTestDatabase("postgres");
  roads = await openScriptedRoads(db, { chains: [{}] });
  const [only] = roads.chains;
  assert(only);
  chain = only;
});
after(() => db.close());

test("a deposit that the database refuses delays the others of its batch by a few transactions", async () => {
  const refused = await roads.create({ priceUnits: 7, oneTime: true });
  const payoutWallets = Array.from({ length: HEALTHY }, (_, index) => `0x${String(index + 1).padStart(40, "e")}`);
  const payout = { payoutChainReference: "31337", payoutTokenAddress: chain.usdc };
  const healthy = await Promise.all(payoutWallets.map((payoutWallet) => roads.create({ ...payout, payoutWallet })));
  for (const intent of [...healthy.slice(0, 77), refused, ...healthy.slice(77)]) chain.pay(intent, 7n);
  for (const statement of [
    `create function refuse_poison() returns trigger language plpgsql as $body$ begin
       if new.intent_id = '${refused.id}' then raise exception 'poison' using errcode = '23514'; end if; return new; end $body$`,
    "create trigger poison before insert on deposit for each row execute function refuse_poison()",
  ])
    await sql.raw(statement).execute(db.root);
  while (chain.scripted.pool.pending.length > 0) chain.mine();
  await chain.watch();
  let transactions = 0;
  const counting: Db = {
    ...db,
    transaction: (run) => {
      transactions += 1;
      return db.transaction(run);
    },
  };
  while (!(await processMovements({ ...roads.world, db: counting }, chain.chain.caip2)).isDone);
  const deposits = await db.root.selectFrom("deposit").select("intent_id").execute();
  assert.equal(deposits.length, HEALTHY);
  assert.deepEqual(
    (await db.root.selectFrom("quarantine").select("intent_id").execute()).map((row) => row.intent_id),
    [refused.id],
  );
  assert(transactions <= TRANSACTIONS_MAX, `${transactions} transactions`);
});
