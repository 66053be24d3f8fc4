import { deepEqual, equal } from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { SolanaInbox } from "@tributary/inbox/solana/address";
import { buildSettle, readonlyMeta } from "@tributary/inbox/solana/instructions";
import type { SolanaInstruction } from "@tributary/inbox/solana/instructions";
import { token2022Program, tokenProgram } from "@tributary/inbox/solana/keys";
import { SOLANA_ACCOUNTS } from "../../packages/local-solana/src/fixtures.ts";
import { sendLamports } from "../../packages/local-solana/src/instructions.ts";
import type { LocalSolana } from "../../packages/local-solana/src/startLocalSolana.ts";
import { ReaderScene, shorten, type TestInboxes } from "../support/solanaInboxes.ts";
import { sendVersion1 } from "../support/solanaKit.ts";

// Transactions that strangers or later wallets send: those that pay and sweep, those of version 1, and those that only
// name an inbox's account.

const { payer, operator, feeRecipient } = SOLANA_ACCOUNTS;

describe("unusual transactions of inboxes on Solana", () => {
  let scene: ReaderScene;
  let solana: LocalSolana;
  let inboxes: TestInboxes;
  before(async () => {
    scene = await ReaderScene.open();
    ({ solana, inboxes } = scene);
  });
  after(() => scene.close());

  const send = (...instructions: SolanaInstruction[]) => scene.send(...instructions);
  const pay = (inbox: SolanaInbox, units: bigint) => scene.pay(inbox, units);
  const open = (inbox: SolanaInbox) => scene.open(inbox);
  const transfer = (to: string, units: bigint) => scene.transfer(to, units);
  const unitsOf = (inbox: SolanaInbox) => scene.unitsOf(inbox);
  const listProgram = (fromBlock: bigint) => scene.list(undefined, fromBlock);
  const transfersOf = (inbox: SolanaInbox, fromBlock = 0n) => scene.list(inbox, fromBlock);
  const credit = (inbox: SolanaInbox, units: number) => ({
    from: payer.address,
    to: inbox.address,
    units,
    identity: inbox.tokenAccount,
  });
  /** What came in after the last leg of its transaction. */
  const creditAfter = (inbox: SolanaInbox, units: number) => ({
    ...credit(inbox, units),
    identity: `${inbox.tokenAccount}/after`,
  });
  const settled = (inbox: SolanaInbox, units: number) => {
    const fee = Math.floor(units / 100);
    const leg = (to: string, amount: number, number: number) => ({
      from: inbox.address,
      to,
      units: amount,
      identity: `${inbox.tokenAccount}/${number}`,
    });
    return [leg(inboxes.payout, units - fee, 0), leg(feeRecipient.address, fee, 1)];
  };

  test("an account that is closed and created again in one transaction keeps its exact credit", async () => {
    const inbox = inboxes.create();
    pay(inbox, 300n);
    const from = scene.startBlock();
    solana.control.send(
      [payer, operator],
      [buildSettle([inbox], { rentRecipient: true }), open(inbox), transfer(inbox.tokenAccount, 900n)],
    );
    const expected = [...settled(inbox, 300), creditAfter(inbox, 900)];
    deepEqual(shorten(await listProgram(from)), expected);
    deepEqual(shorten(await transfersOf(inbox, from)), expected);
    equal(await unitsOf(inbox), 900n);
  });

  test("D48 what comes in after the last leg of its transaction is a credit of its own, in a later place", async () => {
    for (const [isClosed, early, late] of [
      [false, 100n, 10_000n],
      [true, 700n, 3n],
      [false, 500n, 0n],
    ] as const) {
      const inbox = inboxes.create();
      const from = scene.startBlock();
      const settle = buildSettle([inbox], { rentRecipient: isClosed });
      const paid = late === 0n ? [] : [open(inbox), transfer(inbox.tokenAccount, late)];
      solana.control.send([payer, operator], [open(inbox), transfer(inbox.tokenAccount, early), settle, ...paid]);
      const found = await transfersOf(inbox, from);
      const after = late === 0n ? [] : [creditAfter(inbox, Number(late))];
      deepEqual(shorten(found), [credit(inbox, Number(early)), ...settled(inbox, Number(early)), ...after]);
      deepEqual(
        found.map(({ place }) => place),
        found.map(({ place }) => place).toSorted((one, other) => Number(one - other)),
      );
      deepEqual(shorten(await listProgram(from)), shorten(found));
      equal(await unitsOf(inbox), late);
    }
  });

  test("D48 two settlements in one transaction leave what came in after the second one", async () => {
    const inbox = inboxes.create();
    pay(inbox, 300n);
    const from = scene.startBlock();
    const settle = buildSettle([inbox]);
    const pays = (units: bigint) => transfer(inbox.tokenAccount, units);
    send(pays(200n), settle, pays(1_000n), settle, pays(40n));
    const found = shorten(await transfersOf(inbox, from));
    deepEqual(
      found.filter(({ to }) => to === inbox.address),
      [credit(inbox, 1_200), creditAfter(inbox, 40)],
    );
    equal(await unitsOf(inbox), 40n);
  });

  test("payments and settlements in transactions of version 1 are read like the others", async () => {
    const inbox = inboxes.create();
    const from = scene.startBlock();
    const instructions = [open(inbox), transfer(inbox.tokenAccount, 10_000n)];
    const paid = await sendVersion1(solana, { payer, instructions });
    const settle = buildSettle([inbox], { rentRecipient: true });
    await sendVersion1(solana, { payer: operator, instructions: [settle] });
    const found = await transfersOf(inbox, from);
    deepEqual(shorten(found), [credit(inbox, 10_000), ...settled(inbox, 10_000)]);
    equal(found[0]?.chainTx, paid);
    deepEqual(shorten(await listProgram(from)), settled(inbox, 10_000));
  });

  test("a stranger who names an inbox's account, with a token program or without one, changes and costs nothing", async () => {
    const inbox = inboxes.create();
    send(sendLamports(payer.address, inbox.tokenAccount, 1_000_000n));
    solana.control.nextSlot();
    pay(inbox, 5n);
    solana.control.nextSlot();
    const touch = sendLamports(payer.address, inbox.tokenAccount, 1n);
    for (const program of [undefined, tokenProgram, token2022Program]) {
      const named = program === undefined ? [] : [readonlyMeta(program)];
      send({ ...touch, accounts: [...touch.accounts, ...named] });
      solana.control.nextSlot();
    }
    deepEqual(shorten(await transfersOf(inbox)), [credit(inbox, 5)]);
    pay(inbox, 6n);
    send(touch);
    deepEqual(shorten(await transfersOf(inbox)), [credit(inbox, 5), credit(inbox, 6)]);
  });
});
