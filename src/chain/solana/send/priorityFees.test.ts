import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { decodeBase58 } from "@tributary/inbox/solana/base58";
import { deriveTokenAccount } from "@tributary/inbox/solana/derive";
import { pino } from "pino";
import { LOCAL_MINTS, SOLANA_ACCOUNTS } from "../../../../packages/local-solana/src/fixtures.ts";
import type { LocalSolana } from "../../../../packages/local-solana/src/startLocalSolana.ts";
import type { Db } from "../../../db/database.ts";
import { openTestDatabase, thoroughDatabase } from "../../../../test/support/database.ts";
import { callRpc } from "../../../../test/support/solana.ts";
import { openSenderScene, type FalseAnswer, type SceneOptions } from "../../../../test/support/solanaSender.ts";
import { requestPrice } from "./priorityFees.ts";

const log = pino({ level: "silent" });
const usdcOf = (owner: string) => deriveTokenAccount(owner, LOCAL_MINTS.USDC.address, LOCAL_MINTS.USDC.program).address;
const { feeRecipient } = SOLANA_ACCOUNTS;
const COMPUTE_BUDGET = "ComputeBudget111111111111111111111111111111";
const PRICE_TAG = 3;

let db: Db;
before(async () => {
  db = await openTestDatabase(thoroughDatabase);
});
after(() => db.close());

const openScene = (options: Partial<SceneOptions> = {}) => openSenderScene({ db, log, ...options });

/** The price of a compute unit that a transaction on the chain offered. */
async function offeredPrice(solana: LocalSolana, chainTx: string): Promise<bigint | undefined> {
  const options = { commitment: "confirmed", maxSupportedTransactionVersion: 0 };
  const { result } = await callRpc(solana, "getTransaction", chainTx, options);
  const { transaction } = result as {
    transaction: { message: { accountKeys: string[]; instructions: { programIdIndex: number; data: string }[] } };
  };
  const { accountKeys, instructions } = transaction.message;
  const datas = instructions
    .filter(({ programIdIndex }) => accountKeys[programIdIndex] === COMPUTE_BUDGET)
    .map(({ data }) => Buffer.from(decodeBase58(data) ?? []));
  return datas.find((data) => data[0] === PRICE_TAG)?.readBigUInt64LE(1);
}

test("after an expiry the next transaction offers four times as much, up to the ceiling", async () => {
  const { context, world } = await openScene({ computeUnitPriceMax: 100_000n });
  const offered: bigint[] = [];
  for (const expiredInRow of [0, 1, 2, 1_000]) {
    context.feeCeiling.expiredInRow = expiredInRow;
    offered.push((await requestPrice(world, context)).price);
  }
  assert.deepEqual(offered, [10_000n, 40_000n, 100_000n, 100_000n]);
});

test("above the fee ceiling a settlement offers the ceiling, and the log has one alarm", async () => {
  let price = 2_000_000;
  const expensive: FalseAnswer = (method) =>
    method === "getRecentPrioritizationFees"
      ? Promise.resolve([
          { slot: 1, prioritizationFee: 0 },
          { slot: 2, prioritizationFee: price },
        ])
      : undefined;
  const lines: { alarm?: string; msg: string }[] = [];
  const capturing = pino({ level: "info" }, { write: (line: string) => lines.push(JSON.parse(line)) });
  const { sender, world, paidItem } = await openScene({ providers: [expensive], log: capturing });
  const item = paidItem(1_000n);
  assert.ok(await sender.prepare(world, [item]));
  assert.ok(await sender.isWithinFeeCeiling(world));
  assert.deepEqual(await sender.feeStatus(), {
    isWithinCeiling: false,
    text: "2000000 micro-lamports a compute unit, computeUnitPriceMax is 1000000",
  });
  price = 20_000;
  assert.ok(await sender.prepare(world, [item]));
  assert.deepEqual(
    lines.filter(({ msg }) => !msg.includes("accounts")).map(({ alarm, msg }) => alarm ?? msg),
    ["gas_price_above_ceiling", "the priority fee is below the ceiling again"],
  );
  assert.ok((await sender.settlementFee()) > (await sender.accounts.rent()));
});

test("the price is that of the accounts that a transaction writes, and bids of strangers above the ceiling delay nothing", async () => {
  const prices = new Map<string, number>();
  const asked: string[][] = [];
  const byAccount: FalseAnswer = (method, params) => {
    if (method !== "getRecentPrioritizationFees") return undefined;
    const [accounts = []] = params as [string[]?];
    asked.push(accounts);
    const highest = Math.max(0, ...accounts.map((account) => prices.get(account) ?? 0));
    return Promise.resolve([{ slot: 1, prioritizationFee: highest }]);
  };
  const scene = await openScene({ providers: [byAccount], computeUnitPriceMax: 100_000n });
  const { sender, world, paidItem, store, settle, statusOf, payer, solana } = scene;
  const [waiting, other] = [paidItem(1_000n), paidItem(2_000n)];
  prices.set(usdcOf(waiting.terms.payout), 200_000);
  assert.ok(await sender.isWithinFeeCeiling(world));
  const dear = await store([waiting]);
  assert.deepEqual(
    asked.at(-1)?.toSorted(compareTexts),
    [usdcOf(waiting.inbox), usdcOf(waiting.terms.payout)].toSorted(compareTexts),
  );
  assert.ok(!asked.flat().includes(payer.address) && !asked.flat().includes(usdcOf(feeRecipient.address)));
  const id = await store([other]);
  await settle();
  assert.equal(await statusOf(id), "mined");
  assert.equal(await statusOf(dear), "mined");
  const { chain_tx: chainTx } = await world.db.root
    .selectFrom("outgoing_attempt")
    .select("chain_tx")
    .where("outgoing_id", "=", dear)
    .executeTakeFirstOrThrow();
  assert.equal(await offeredPrice(solana, chainTx), 100_000n);
});

function compareTexts(one: string, other: string): number {
  return one < other ? -1 : 1;
}
