import assert from "node:assert/strict";
import { test } from "node:test";
import { openTestDatabase } from "../../../test/support/database.ts";
import { randomAddress } from "../../../test/support/intents.ts";
import { stationWorld } from "../../../test/support/stationWorld.ts";
import { createAccount } from "../../merchant/createAccount.ts";
import { createIntent } from "../createIntent.ts";
import { openSession } from "./session.ts";

const CREATES = 60;

test("§5.7 of the tokens of concurrent creates one opens a session, and a refused create replaces none", async (t) => {
  const db = await openTestDatabase("postgres");
  t.after(() => db.close());
  const world = stationWorld(db);
  const wallet = randomAddress();
  const payout = { namespace: "eip155", chainReference: "31337", wallet, currency: "USDC" } as const;
  const account = await createAccount(world, { name: "Test", payout });
  const create = (priceUnits: number) =>
    createIntent(db.root, world, { account, input: { payoutWallet: wallet, priceUnits } });
  const created = await Promise.all(Array.from({ length: CREATES }, () => create(5)));
  assert.equal(new Set(created.map(({ intent }) => intent.id)).size, 1);
  const openWith = async ({ intent, widgetToken }: (typeof created)[number]) =>
    !("refusal" in (await openSession(world, { intentId: intent.id, credential: { widgetToken } })));
  const opened = await Promise.all(created.map(openWith));
  assert.equal(opened.filter(Boolean).length, 1);
  await assert.rejects(create(6), { code: "destination_conflict" });
  assert.deepEqual(await Promise.all(created.map(openWith)), opened);
});
