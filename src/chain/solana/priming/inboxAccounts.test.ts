import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { deriveTokenAccount } from "@tributary/inbox/solana/derive";
import { lamportsRentEnd } from "@tributary/inbox/solana/lamportBounds";
import { pino } from "pino";
import { openTestDatabase, thoroughDatabase } from "../../../../test/support/database.ts";
import { createWallet, payTokens } from "../../../../test/support/solana.ts";
import { openSenderScene, type FalseAnswer, type SenderScene } from "../../../../test/support/solanaSender.ts";
import type { Db } from "../../../db/database.ts";
import { LOCAL_MINTS, SOLANA_ACCOUNTS } from "../../../../packages/local-solana/src/fixtures.ts";
import {
  createTokenAccount,
  findTokenAccount,
  sendLamports,
} from "../../../../packages/local-solana/src/instructions.ts";
import type { PreparedTransaction, SettleItem } from "../../sender.ts";

const { feeRecipient, stranger } = SOLANA_ACCOUNTS;
const { USDC, DUSD } = LOCAL_MINTS;
/**
 * More than one transaction costs: the deeper an address is searched for, the more compute it needs. Three cost more
 * than two of these.
 */
const FEE = 7_000n;

let db: Db;
before(async () => {
  db = await openTestDatabase(thoroughDatabase);
});
after(() => db.close());

const openScene = (...providers: (FalseAnswer | undefined)[]) =>
  openSenderScene({ db, log: pino({ level: "silent" }), ...(providers.length === 0 ? {} : { providers }) });

const accountOf = ({ inbox, token, tokenProgram = "" }: SettleItem) =>
  deriveTokenAccount(inbox, token, tokenProgram).address;

/** A merchant's wallet that was paid before. */
function openPayout({ solana }: SenderScene, { address: mint, program } = USDC): string {
  const { address } = createWallet(solana, 0n);
  payTokens(solana, { to: address, units: 1n, mint, program });
  solana.control.finalize();
  return address;
}

async function run({ settle }: SenderScene, prepared: PreparedTransaction | undefined): Promise<void> {
  assert.ok(prepared);
  await db.transaction((tx) => prepared.store(tx, new Date()));
  await settle();
}

for (const [name, { address: mint, program: tokenProgram }] of [
  ["the older token program", USDC],
  ["Token-2022", DUSD],
] as const)
  test(`six accounts of ${name} are created in one transaction, and closed in one, for two fees`, async () => {
    const scene = await openScene();
    const { sender, world, solana } = scene;
    const payout = openPayout(scene, { ...USDC, address: mint, program: tokenProgram });
    const items = Array.from({ length: 6 }, () => scene.newItem({ payout, mint, tokenProgram }));
    const before = await sender.feeBalance();
    await run(scene, await sender.accounts.prepareOpen(world, items));
    const open = await sender.accounts.inspect(items);
    assert.deepEqual(open, Array(6).fill({ units: 0n, obstacle: undefined }));
    const locked = before - (await sender.feeBalance());
    assert.ok(locked <= 6n * (await sender.accounts.rent()) + FEE, `${locked}`);
    await run(scene, await sender.accounts.prepareClose(world, items));
    assert.ok(items.every((item) => solana.control.account(accountOf(item)) === undefined));
    const cost = before - (await sender.feeBalance());
    assert.ok(cost > 0n && cost < 2n * FEE, `${cost}`);
  });

test("creating an account that somebody created meanwhile, or sent lamports to, costs no more", async () => {
  const scene = await openScene();
  const { sender, world, solana } = scene;
  const payout = openPayout(scene);
  const [created, funded] = [scene.newItem({ payout }), scene.newItem({ payout })];
  const prepared = await sender.accounts.prepareOpen(world, [created, funded]);
  solana.control.send([stranger], [createTokenAccount(stranger.address, { owner: created.inbox, mint: USDC.address })]);
  solana.control.send([stranger], [sendLamports(stranger.address, accountOf(funded), 890_880n)]);
  solana.control.finalize();
  assert.equal((await sender.accounts.inspect([funded]))[0]?.units, undefined, "lamports make no token account");
  const before = await sender.feeBalance();
  await run(scene, prepared);
  const cost = before - (await sender.feeBalance());
  assert.ok(cost < (await sender.accounts.rent()) - 890_880n + FEE, `${cost}`);
});

test("one provider that misses an account does not hide it", async () => {
  const hidden: FalseAnswer = (method, [addresses]) =>
    method === "getMultipleAccounts" && Array.isArray(addresses)
      ? Promise.resolve({ context: { slot: 1 }, value: addresses.map(() => null) })
      : undefined;
  const scene = await openScene(hidden, undefined);
  const payout = openPayout(scene);
  const item = scene.newItem({ payout });
  await run(scene, await scene.sender.accounts.prepareOpen(scene.world, [item]));
  assert.equal((await scene.sender.accounts.inspect([item]))[0]?.units, 0n);
});

test("an account that only the recovery key could close, and one without a payout account, have an obstacle", async () => {
  const scene = await openScene();
  const { sender, world, solana } = scene;
  const [rich, unpaid] = [scene.newItem({ payout: openPayout(scene) }), scene.newItem()];
  await run(scene, await sender.accounts.prepareOpen(world, [rich, unpaid]));
  solana.control.send([stranger], [sendLamports(stranger.address, accountOf(rich), lamportsRentEnd)]);
  solana.control.finalize();
  const obstacles = (await sender.accounts.inspect([rich, unpaid])).map(({ obstacle }) => obstacle);
  assert.deepEqual(obstacles, ["excess_lamports", "no_payout_account"]);
  await assert.rejects(sender.accounts.prepareClose(world, [unpaid]), { name: "SettleRefused", message: "PAYOUT" });
});

test("only an inbox that returns its rent to the payer is primed, and only of a mint that settles", async () => {
  const scene = await openScene();
  const { sender, world, context } = scene;
  const at = new Date();
  const own = scene.newItem();
  const foreign = scene.newItem({ rentRecipient: stranger.address });
  const soon = scene.newItem({ recoverAfter: Math.floor(at.getTime() / 1_000) + 86_400 });
  const feeAccount = findTokenAccount({ owner: stranger.address, mint: USDC.address });
  const otherFee = scene.newItem({ feeAccount });
  assert.notEqual(feeAccount, findTokenAccount({ owner: feeRecipient.address, mint: USDC.address }));
  const isReturned = [own, foreign, soon, otherFee].map((item) => sender.accounts.returnsRent(item, at));
  assert.deepEqual(isReturned, [true, false, false, false]);
  const prepared = await sender.accounts.prepareOpen(world, [foreign]);
  await assert.rejects(
    db.transaction(async (tx) => prepared?.store(tx, at)),
    { message: /^the fee payer does not sign / },
  );
  context.heldMints.set(USDC.address, "takes a fee");
  await assert.rejects(sender.accounts.prepareOpen(world, [own]), { message: "the mint takes a fee" });
});
