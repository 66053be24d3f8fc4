import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openTestDatabase } from "../../test/support/database.ts";
import { openScriptedRoads, type ScriptedRoads } from "../../test/support/scriptedRoads.ts";
import { openAttestationClient } from "../chain/evm/bridge/attestationClient.ts";
import type { Db } from "../db/database.ts";
import { findIssuableRoutes } from "./issuableRoutes.ts";
import { issueSourceInbox } from "./issueSourceInbox.ts";

const MINIMUM_UNITS = 10_000n;
const AWAY = { chainId: 31_338 };

let db: Db;
let bridge: ReturnType<typeof openAttestationClient>;
let roads: ScriptedRoads;
before(async () => {
  db = await openTestDatabase("postgres");
  bridge = openAttestationClient("http://127.0.0.1:1");
  roads = await openScriptedRoads(db, { chains: [{}, { minimumUnits: MINIMUM_UNITS }] });
});
after(async () => {
  await bridge.close();
  await db.close();
});

test("D57 an origin whose minimum exceeds the price of a one-time intent issues no inbox", async () => {
  const world = { ...roads.world, bridge };
  const countRoutes = async (input: object) => (await findIssuableRoutes(world, await roads.create(input))).length;
  const oneTime = true;
  assert.equal(await countRoutes({ priceUnits: Number(MINIMUM_UNITS) - 1, oneTime }), 0);
  assert.equal(await countRoutes({ priceUnits: Number(MINIMUM_UNITS), oneTime }), 2);
  assert.equal(await countRoutes({ priceUnits: Number(MINIMUM_UNITS) - 1 }), 2);
  assert.equal(await countRoutes({}), 2);
  const cheap = await roads.create({ priceUnits: Number(MINIMUM_UNITS) - 1, oneTime });
  await assert.rejects(issueSourceInbox(world, cheap, AWAY), { code: "source_inbox_not_active" });
  const dear = await roads.create({ priceUnits: Number(MINIMUM_UNITS), oneTime });
  assert.equal((await issueSourceInbox(world, dear, AWAY)).address.toLowerCase(), dear.inbox_address);
});
