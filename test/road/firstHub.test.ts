import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { sql } from "kysely";
import { computeInboxAddress } from "@tributary/inbox/address";
import { firstHubCreationCode } from "@tributary/inbox/firstHubCode";
import { currentHub, firstHub } from "@tributary/inbox/hubs";
import { verifyInbox } from "@tributary/inbox/verify";
import { deployHub } from "../../src/dev/chains/contracts.ts";
import { DEV_ACCOUNTS } from "../../src/dev/devAccounts.ts";
import { intentRecord } from "../../src/intent/intentRecord.ts";
import { toInboxTerms } from "../../src/intent/inboxTerms.ts";
import type { IntentRow } from "../../src/intent/store.ts";
import { openRoad, type Road } from "../support/road.ts";

const UNITS = 10_199n;
const PER_HUB = 12;

describe("intents of the first hub beside those of the current one", () => {
  let road: Road;
  let old: IntentRow[];
  let current: IntentRow[];
  before(async () => {
    road = await openRoad();
    await deployHub(road.chain.client, DEV_ACCOUNTS.issuer, {
      creationCode: firstHubCreationCode,
      salt: firstHub.salt,
    });
    current = await createMany(() => road.create());
    old = await createMany(createAtFirstHub);
  });
  after(() => road.close());

  async function createMany(create: () => Promise<IntentRow>): Promise<IntentRow[]> {
    const intents: IntentRow[] = [];
    while (intents.length < PER_HUB) intents.push(await create());
    return intents;
  }

  /**
   * An intent as an earlier release created it. Triggers protect its pinned columns; the database owner can disable
   * them.
   */
  async function createAtFirstHub(): Promise<IntentRow> {
    const intent = await road.create();
    const address = computeInboxAddress(toInboxTerms(intent), firstHub);
    const pinned = {
      inbox_hub: firstHub.address,
      inbox_implementation: firstHub.implementation,
      inbox_address: address,
    };
    await road.world.db.transaction(async (tx) => {
      await sql`set local session_replication_role = replica`.execute(tx);
      await tx.updateTable("intent").set(pinned).where("id", "=", intent.id).execute();
      await tx.updateTable("inbox").set({ address }).where("intent_id", "=", intent.id).execute();
    });
    return road.intent(intent);
  }

  test("the API's record of each verifies against its own hub", () => {
    for (const [intent, hub] of [
      [old[0], firstHub],
      [current[0], currentHub],
    ] as const) {
      assert.ok(intent);
      const { inboxTerms, inboxAddress } = intentRecord(intent, road.world.config);
      assert.equal(inboxTerms.version, hub.version);
      const { payout_wallet: payoutWallet, payout_token: token, fee_bps: feeBpsMax, recovery } = intent;
      const expected = { inboxAddress, payoutWallet, token, chainId: road.chain.chainId, feeBpsMax, recovery };
      assert.deepEqual(verifyInbox(inboxTerms, expected), { ok: true });
    }
  });

  test("both are settled, each by its own hub, and no transaction mixes them", async () => {
    for (const intent of [...old, ...current]) await road.pay(intent, UNITS);
    for (let turn = 0; turn < 3; turn += 1) await road.settle();
    for (const intent of [...old, ...current]) {
      const [settlement] = await road.settlements(intent);
      assert.deepEqual([settlement?.status, settlement?.gross_units, settlement?.fee_units], ["landed", UNITS, 50n]);
      assert.equal(await road.balance(intent.inbox_address), 0n);
    }
    const sent = await road.world.db.root.selectFrom("outgoing_transaction").select("recipient").execute();
    assert.deepEqual(new Set(sent.map(({ recipient }) => recipient)), new Set([firstHub.address, currentHub.address]));
  });
});
