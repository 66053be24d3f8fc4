import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { pino } from "pino";
import { openTestDatabase, thoroughDatabase } from "../../../../test/support/database.ts";
import { openSenderScene, type FalseAnswer, type SceneOptions } from "../../../../test/support/solanaSender.ts";
import type { Db } from "../../../db/database.ts";
import { LOCAL_MINTS } from "../../../../packages/local-solana/src/fixtures.ts";
import { fetchAccountRent } from "./accountRent.ts";

const { USDC, DUSD } = LOCAL_MINTS;
const BYTES = 293n;
const BYTES_2022 = 302n;
/** Of the transactions that create and close an account. */
const FEES = 20_000n;

let db: Db;
before(async () => {
  db = await openTestDatabase(thoroughDatabase);
});
after(() => db.close());

const openScene = (options: Partial<SceneOptions> = {}) =>
  openSenderScene({ db, log: pino({ level: "silent" }), ...options });

for (const lamportsPerByte of [6_960n, 5_080n, 696n])
  test(`at ${lamportsPerByte} lamports a byte the rent is what the chain says, and it returns`, async () => {
    const { sender, context, world, newItem, settle } = await openScene({ lamportsPerByte });
    assert.equal(await sender.accounts.rent(), BYTES_2022 * lamportsPerByte);
    const classic = { ...context, tokenPrograms: new Map([[USDC.address, USDC.program]]) };
    assert.equal(await fetchAccountRent(classic), BYTES * lamportsPerByte);
    assert.ok((await sender.settlementFee()) > BYTES_2022 * lamportsPerByte);
    for (const { address: mint, program: tokenProgram } of [USDC, DUSD]) {
      const before = await sender.feeBalance();
      const prepared = await sender.accounts.prepareOpen(world, [newItem({ mint, tokenProgram })]);
      await db.transaction(async (tx) => prepared?.store(tx, new Date()));
      await settle();
      const locked = before - (await sender.feeBalance());
      assert.ok(locked >= BYTES * lamportsPerByte && locked <= BYTES_2022 * lamportsPerByte + FEES, `${locked}`);
    }
  });

test("one provider of two that names a high rent changes nothing", async () => {
  const high: FalseAnswer = (method) =>
    method === "getMinimumBalanceForRentExemption" ? Promise.resolve(10 ** 12) : undefined;
  const { sender } = await openScene({ providers: [high, undefined] });
  assert.equal(await sender.accounts.rent(), BYTES_2022 * 5_080n);
});
