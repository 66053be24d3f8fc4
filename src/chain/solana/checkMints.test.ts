import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { pino } from "pino";
import { openTestDatabase, thoroughDatabase } from "../../../test/support/database.ts";
import { openSenderScene, type FalseAnswer } from "../../../test/support/solanaSender.ts";
import type { ChainConfig } from "../../config/config.ts";
import type { Db } from "../../db/database.ts";
import { LOCAL_MINTS } from "../../../packages/local-solana/src/fixtures.ts";
import { ProviderFailed } from "../reader.ts";

const { address, decimals, symbol, program: tokenProgram } = LOCAL_MINTS.USDC;
const TOKEN = { symbol, slug: "usdc", address, decimals, tokenProgram, minimumUnits: 0n, isOrigin: true, isRail: true };
const CONFIG = { tokens: [TOKEN] } as unknown as ChainConfig;

let db: Db;
before(async () => {
  db = await openTestDatabase(thoroughDatabase);
});
after(() => db.close());

const openScene = (...providers: (FalseAnswer | undefined)[]) =>
  openSenderScene({ db, log: pino({ level: "silent" }), providers });

const missing: FalseAnswer = (method) =>
  method === "getMultipleAccounts" ? Promise.resolve({ context: { slot: 1 }, value: [null] }) : undefined;
const failing: FalseAnswer = (method) =>
  method === "getMultipleAccounts" ? Promise.reject(new ProviderFailed("unreachable", "away")) : undefined;

test("one provider alone cannot stop a token where another one shows it as configured", async () => {
  const { sender } = await openScene(missing, undefined);
  assert.deepEqual(await sender.checkTokens(CONFIG), []);
});

test("what two providers report counts, and so does what the only one that answers reports", async () => {
  for (const scene of [await openScene(missing, missing, undefined), await openScene(failing, missing)])
    assert.deepEqual(await scene.sender.checkTokens(CONFIG), [
      { token: address, reason: "does not exist", holdsSettlements: true },
    ]);
});

test("without any answer the last result stays", async () => {
  let answer: FalseAnswer = missing;
  const scene = await openScene((method, params) => answer(method, params));
  await scene.sender.checkTokens(CONFIG);
  answer = failing;
  await assert.rejects(scene.sender.checkTokens(CONFIG), ProviderFailed);
  const item = scene.paidItem(1_000_000n);
  assert.match(String(await scene.sender.refusals([item])), /the mint does not exist/);
  answer = () => undefined;
  assert.deepEqual(await scene.sender.checkTokens(CONFIG), []);
  assert.deepEqual(await scene.sender.refusals([item]), [undefined]);
});
