import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { pino } from "pino";
import type { Db } from "../../../db/database.ts";
import { openTestDatabase, thoroughDatabase } from "../../../../test/support/database.ts";
import { openSenderScene, type FalseAnswer } from "../../../../test/support/solanaSender.ts";

let db: Db;
before(async () => {
  db = await openTestDatabase(thoroughDatabase);
});
after(() => db.close());

test("a provider that is stuck on a dead fork keeps no settlement open beside honest ones", async () => {
  const stuckAt: { height?: number } = {};
  const stuck: FalseAnswer = (method, params) => {
    const { height } = stuckAt;
    if (height === undefined) return undefined;
    if (method === "getBlockHeight") return Promise.resolve(height);
    if (method !== "getSignatureStatuses") return undefined;
    const status = { slot: height, confirmations: 1, err: null, confirmationStatus: "confirmed" };
    return Promise.resolve({ value: (params[0] as string[]).map(() => status) });
  };
  const log = pino({ level: "silent" });
  const scene = await openSenderScene({ db, log, providers: [stuck, undefined, undefined] });
  const { sender, solana, world, paidItem, store, settle, statusOf, unitsOf } = scene;
  const item = paidItem(1_000n);
  solana.control.setLanding("drop");
  const id = await store([item]);
  stuckAt.height = solana.control.slot;
  await sender.process(world);
  assert.equal(await statusOf(id), "signed");
  solana.control.nextSlot(161);
  await sender.process(world);
  assert.equal(await statusOf(id), "lost");
  solana.control.setLanding("now");
  const next = await store([item]);
  await sender.process(world);
  solana.control.nextSlot(161);
  await settle();
  assert.equal(await statusOf(next), "mined");
  assert.equal(unitsOf(item.terms.payout), 995n);
});
