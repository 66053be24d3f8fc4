import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openTestDatabase } from "../../test/support/database.ts";
import { insertIntent, TEST_TOKEN } from "../../test/support/intents.ts";
import { stationWorld, type StationWorld } from "../../test/support/stationWorld.ts";
import type { ChainConfig } from "../config.ts";
import type { Db } from "../db/database.ts";
import type { FaultCode } from "../kernel/faults.ts";
import { issueSourceInbox, type OriginName } from "./issueSourceInbox.ts";

const LOCAL = { chainId: 31337 };

let db: Db;
let world: StationWorld;

before(async () => {
  db = await openTestDatabase("pglite");
  world = stationWorld(db);
});

after(() => db.close());

const disabled: Partial<ChainConfig> = {
  tokens: [
    { symbol: "USDC", slug: "usdc", address: TEST_TOKEN, decimals: 6, minimumUnits: 0n, isOrigin: false, isRail: true },
  ],
};

function refused(promise: Promise<unknown>, code: FaultCode): Promise<void> {
  return assert.rejects(promise, { name: "Fault", code });
}

test("§4.5.3 a repeated issue, also many at once, returns one address and tells one event", async () => {
  const intent = await insertIntent(db);
  const issued = await Promise.all(Array.from({ length: 10 }, () => issueSourceInbox(world, intent, LOCAL)));
  assert.equal(new Set(issued.map((inbox) => inbox.caip10)).size, 1);
  assert.equal(issued[0]?.address.toLowerCase(), intent.inbox_address);
  assert.equal(issued[0]?.caip10, `eip155:31337:${issued[0]?.address}`);
  const events = await db.read.selectFrom("event").select("type").where("intent_id", "=", intent.id).execute();
  assert.deepEqual(events, [{ type: "source_inbox.issued" }]);
});

test("D29 an issued inbox is returned for ever: settled intent, disabled origin, chain gone", async () => {
  const intent = await insertIntent(db, { one_time: true, price_units: 1n, price_token_units: 1n });
  const first = await issueSourceInbox(world, intent, LOCAL);
  const settled = { ...intent, status: "settled" } as const;
  assert.deepEqual(await issueSourceInbox(world, settled, LOCAL), first);
  assert.deepEqual(await issueSourceInbox(stationWorld(db, disabled), intent, LOCAL), first);
  assert.deepEqual(await issueSourceInbox(stationWorld(db, { tokens: [] }), intent, LOCAL), first);
});

test("D29 the first issue needs a live origin, an active intent, a route to its payout and a bound customer", async () => {
  const intent = await insertIntent(db);
  const other = { ...intent, payout_chain_reference: "1" };
  const unknown: OriginName[] = [{ chainId: 1 }, { namespace: "solana", reference: "x", mint: "y" }];
  for (const name of unknown) await refused(issueSourceInbox(world, intent, name), "unsupported_origin");
  await refused(issueSourceInbox(stationWorld(db, disabled), intent, LOCAL), "unsupported_origin");
  await refused(issueSourceInbox(world, { ...intent, status: "settled" }, LOCAL), "source_inbox_not_active");
  await refused(issueSourceInbox(world, other, LOCAL), "source_inbox_not_active");
  await refused(issueSourceInbox(world, { ...intent, customer_bound_at: null }, LOCAL), "customer_not_bound");
  const rows = await db.read.selectFrom("source_inbox").select("address").where("intent_id", "=", intent.id).execute();
  assert.deepEqual(rows, []);
});
