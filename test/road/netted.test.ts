import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { hubAbi } from "@tributary/inbox/hubAbi";
import { decodeFunctionData, type Hex } from "viem";
import { DEV_ACCOUNTS } from "../../src/dev/devAccounts.ts";
import { createIntent } from "../../src/intent/createIntent.ts";
import type { IntentRow } from "../../src/intent/store.ts";
import { createAccount } from "../../src/merchant/createAccount.ts";
import type { AccountRow } from "../../src/merchant/store.ts";
import { openRoad, type Road } from "../support/road.ts";

const { payoutFirst, payoutSecond, feeRecipient } = DEV_ACCOUNTS;
/** Its fee of half a percent is rounded down to 50. */
const UNITS = 10_199n;
const FEE_UNITS = 50n;

describe("settlements with shared terms", () => {
  let road: Road;
  let otherAccount: AccountRow;
  before(async () => {
    road = await openRoad();
    otherAccount = await createAccount(road.world, {
      name: "Other",
      feeBps: 50,
      payout: {
        namespace: "eip155",
        chainReference: String(road.chain.chainId),
        wallet: payoutSecond.address,
        currency: "USDC",
      },
    });
  });
  after(() => road.close());

  async function create(count: number, account = road.account): Promise<IntentRow[]> {
    const { db } = road.world;
    const created = Array.from({ length: count }, () => createIntent(db.root, road.world, { account, input: {} }));
    return (await Promise.all(created)).map(({ intent }) => intent);
  }
  /** Pays and settles the intents, and returns the hub's functions that the service called, sorted. */
  async function settle(intents: readonly IntentRow[], expectedFee = FEE_UNITS): Promise<string[]> {
    const { db } = road.world;
    for (const intent of intents) await road.pay(intent, UNITS);
    const { last } = await db.root
      .selectFrom("outgoing_transaction")
      .select(({ fn }) => fn.max("id").as("last"))
      .executeTakeFirstOrThrow();
    await road.settle();
    for (const intent of intents) {
      const settlement = (await road.settlements(intent)).at(-1);
      assert.deepEqual(
        [settlement?.status, settlement?.gross_units, settlement?.fee_units, settlement?.attempts],
        ["landed", UNITS, expectedFee, 0],
      );
      assert.equal(await road.balance(intent.inbox_address), 0n);
    }
    const sent = await db.root
      .selectFrom("outgoing_transaction")
      .select("data")
      .where("id", ">", last ?? 0n)
      .execute();
    return sent.map(({ data }) => decodeFunctionData({ abi: hubAbi, data: data as Hex }).functionName).toSorted();
  }
  async function gains(work: () => Promise<void>): Promise<bigint[]> {
    const wallets = [payoutFirst, payoutSecond, feeRecipient].map(({ address }) => address);
    const before = await Promise.all(wallets.map((wallet) => road.balance(wallet)));
    await work();
    const after = await Promise.all(wallets.map((wallet) => road.balance(wallet)));
    return after.map((units, index) => units - (before[index] ?? 0n));
  }

  test("inboxes of one merchant share one payout and one fee, and each keeps its own fee in the books", async () => {
    const intents = await create(4);
    const gained = await gains(async () => {
      assert.deepEqual(await settle(intents), ["settleNetted"]);
      assert.deepEqual(await settle(intents), ["settleNetted"]);
    });
    assert.deepEqual(gained, [8n * (UNITS - FEE_UNITS), 0n, 8n * FEE_UNITS]);
  });

  test("a few inboxes, and a few of several merchants, settle one by one in one transaction", async () => {
    assert.deepEqual(await settle(await create(3)), ["settleMany"]);
    assert.deepEqual(await settle([...(await create(4)), ...(await create(2, otherAccount))]), ["settleMany"]);
  });

  test("many inboxes of one merchant get a transaction of their own", async () => {
    const intents = [...(await create(9)), ...(await create(2, otherAccount))];
    const gained = await gains(async () => {
      assert.deepEqual(await settle(intents), ["settleMany", "settleNetted"]);
    });
    assert.deepEqual(gained, [9n * (UNITS - FEE_UNITS), 2n * (UNITS - FEE_UNITS), 11n * FEE_UNITS]);
  });

  test("a token that refuses the hub or the fee wallet is settled one by one", async () => {
    const { chain } = road;
    const intents = await create(4);
    await chain.blocklist(chain.usdc.address, chain.hub);
    assert.deepEqual(await settle(intents), ["settleMany"]);
    await chain.unblocklist(chain.usdc.address, chain.hub);
    await chain.blocklist(chain.usdc.address, feeRecipient.address);
    assert.deepEqual(await settle(intents, 0n), ["settleMany"]);
    await chain.unblocklist(chain.usdc.address, feeRecipient.address);
    assert.deepEqual(await settle(intents), ["settleNetted"]);
  });
});
