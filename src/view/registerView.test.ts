import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openTestDatabase } from "../../test/support/database.ts";
import { insertIntent, TEST_TOKEN } from "../../test/support/intents.ts";
import { stationWorld } from "../../test/support/stationWorld.ts";
import type { Db } from "../db/database.ts";
import { issueSourceInbox } from "../inbox/issueSourceInbox.ts";
import { insertSourceInbox } from "../inbox/store.ts";
import { addMs } from "../kernel/clock.ts";
import { registerView, type ViewSelection } from "./registerView.ts";
import { listHintedInboxes } from "./store.ts";

const AT = new Date("2026-11-21T10:00:00Z");
const LOCAL: ViewSelection = { namespace: "eip155", reference: "31337", tokenAddress: TEST_TOKEN };

let db: Db;

before(async () => {
  db = await openTestDatabase("postgres");
});

after(() => db.close());

function worldAt(now: Date) {
  const world = stationWorld(db);
  return { ...world, clock: { ...world.clock, now: () => now }, wake: { notify: () => {}, wait: async () => {} } };
}

test("§4.6.3 a selection is recorded once its inbox is issued, for every letter case of its token", async () => {
  const world = worldAt(AT);
  const intent = await insertIntent(db);
  assert.equal(await registerView(world, intent, LOCAL), false);
  await issueSourceInbox(world, intent, { chainId: 31337 });
  const spellings = [TEST_TOKEN, TEST_TOKEN.toUpperCase().replace("0X", "0x"), TEST_TOKEN.replace("c0de6", "C0dE6")];
  for (const tokenAddress of spellings)
    assert.equal(await registerView(world, intent, { ...LOCAL, tokenAddress }), true, tokenAddress);
});

test("D30 an unknown chain or token is not recorded", async () => {
  const world = worldAt(AT);
  const intent = await insertIntent(db);
  await issueSourceInbox(world, intent, { chainId: 31337 });
  for (const change of [{ reference: "1" }, { namespace: "solana" }, { tokenAddress: `0x${"9".repeat(40)}` }]) {
    assert.equal(await registerView(world, intent, { ...LOCAL, ...change }), false, JSON.stringify(change));
  }
});

test("D30 without a selection an active intent is recorded, and each report gives 30 minutes more", async () => {
  const intent = await insertIntent(db);
  assert.equal(await registerView(worldAt(AT), intent), true);
  assert.equal(await registerView(worldAt(addMs(AT, 60_000)), intent), true);
  const hints = await db.root.selectFrom("view_hint").select("expires_at").where("intent_id", "=", intent.id).execute();
  assert.deepEqual(hints, [{ expires_at: addMs(AT, 31 * 60_000) }]);
  assert.equal(await registerView(worldAt(AT), { ...intent, status: "settled" }), false);
});

test("§4.6.1 without a selection the hints cover the payout token and the origins on chains with a source inbox", async () => {
  const elsewhere = await insertIntent(db, { payout_chain_reference: "31338", payout_token: `0x${"77".repeat(20)}` });
  const own = await insertIntent(db);
  const { id: intent_id, inbox_address: address } = elsewhere;
  const inboxKey = { namespace: "eip155", reference: "31337", token: "" } as const;
  await db.transaction((tx) => insertSourceInbox(tx, { intent_id, address, ...inboxKey, issued_at: AT }));
  for (const intent of [elsewhere, own]) await registerView(worldAt(AT), intent);
  const query = { namespace: "eip155", reference: "31337", after: AT, limit: 100 } as const;
  const hinted = await listHintedInboxes(db, query);
  for (const { inbox_address: inbox } of [elsewhere, own])
    assert.deepEqual(
      hinted.filter((hint) => hint.inbox === inbox).map(({ token }) => token),
      [TEST_TOKEN],
    );
});
