import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { hubAddress } from "@tributary/inbox/hub";
import { openTestDatabase } from "../../test/support/database.ts";
import { randomAddress, TEST_TOKEN } from "../../test/support/intents.ts";
import { stationWorld } from "../../test/support/stationWorld.ts";
import type { Db } from "../db/database.ts";
import { createAccount } from "./createAccount.ts";

let db: Db;
before(async () => {
  db = await openTestDatabase("postgres");
});
after(() => db.close());

const payoutTo = (wallet: string) =>
  ({ namespace: "eip155", chainReference: "31337", wallet, currency: "USDC" }) as const;

test("D11 an account cannot have a default wallet that its intents would refuse", async () => {
  const world = stationWorld(db);
  for (const wallet of [`0x${"0".repeat(40)}`, `0x${"0".repeat(39)}9`, hubAddress, TEST_TOKEN]) {
    await assert.rejects(createAccount(world, { name: "Bad", payout: payoutTo(wallet) }), {
      code: "invalid_request",
      param: "payout.wallet",
    });
  }
  const account = await createAccount(world, { name: "Good", payout: payoutTo(randomAddress()) });
  assert.equal(account.status, "active");
});
