import { deepEqual, equal, ok } from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { createSolanaRpc, getBase64EncodedWireTransaction } from "@solana/kit";
import type { SolanaInbox } from "@tributary/inbox/solana/address";
import { buildSettle, buildUnnest } from "@tributary/inbox/solana/instructions";
import type { SolanaInstruction } from "@tributary/inbox/solana/instructions";
import { decodeKey } from "@tributary/inbox/solana/keys";
import type { Transfer } from "../../src/chain/reader.ts";
import type { SolanaReader } from "../../src/chain/solana/read/solanaReader.ts";
import { LOCAL_MINTS, SOLANA_ACCOUNTS } from "../../packages/local-solana/src/fixtures.ts";
import {
  createTokenAccount,
  findTokenAccount,
  mintTokens,
  transferTokens,
} from "../../packages/local-solana/src/instructions.ts";
import type { LocalSolana } from "../../packages/local-solana/src/startLocalSolana.ts";
import { createWallet, payTokens } from "../support/solana.ts";
import {
  closeAccount,
  createOwnAccount,
  installProxyProgram,
  nestedAccount,
  plainTransfer,
  ReaderScene,
  shorten,
  type TestInboxes,
  USDC,
} from "../support/solanaInboxes.ts";
import { signWithKit } from "../support/solanaKit.ts";

// Every way of money into and out of an inbox: the exact credit, or none.

const { payer, operator, issuer, feeRecipient } = SOLANA_ACCOUNTS;

describe("transfers of inboxes on Solana", () => {
  let scene: ReaderScene;
  let solana: LocalSolana;
  let reader: SolanaReader;
  let inboxes: TestInboxes;
  let viaProgram: (inner: SolanaInstruction) => SolanaInstruction;
  before(async () => {
    scene = await ReaderScene.open();
    ({ solana, reader, inboxes } = scene);
    viaProgram = installProxyProgram(solana);
  });
  after(() => scene.close());

  const send = (...instructions: SolanaInstruction[]) => scene.send(...instructions);
  const pay = (inbox: SolanaInbox, units: bigint) => scene.pay(inbox, units);
  const open = (inbox: SolanaInbox) => scene.open(inbox);
  const transfer = (to: string, units: bigint) => scene.transfer(to, units);
  const unitsOf = (inbox: SolanaInbox) => scene.unitsOf(inbox);
  const listProgram = (fromBlock: bigint) => scene.list(undefined, fromBlock);
  /** Everything about an inbox, up to the confirmed head. */
  async function transfersOf(inbox: SolanaInbox, fromBlock = 0n): Promise<Transfer[]> {
    const found = await scene.list(inbox, fromBlock);
    await assertProven(found);
    return found;
  }
  /** What the transactions' own records say, and what their blocks hold. */
  async function assertProven(found: readonly Transfer[]): Promise<void> {
    for (const each of found) {
      const [proof] = await reader.proofs([each.chainTx]);
      deepEqual(
        [proof?.blockHash, proof?.blockNumber, proof?.succeeded, proof?.identityAt(each.place)],
        [each.blockHash, each.blockNumber, true, each.identity],
      );
      equal(proof?.transfers?.().find(({ place }) => place === each.place)?.amountText, each.amountText);
      const { blockHash, blockNumber } = each;
      const parties = [each.from, each.to];
      const inBlock = await reader.transfers({ blockHash, blockNumber }, [each.token], parties).catch(() => []);
      if (inBlock.length > 0) ok(inBlock.some(({ place }) => place === each.place));
    }
  }
  const credit = (inbox: SolanaInbox, units: number, from = payer.address) => ({
    from,
    to: inbox.address,
    units,
    identity: inbox.tokenAccount,
  });

  test("a payment of a wallet is one transfer, whichever instruction it uses", async () => {
    const [checked, plain] = [inboxes.create(), inboxes.create()];
    const first = pay(checked, 1_500_000n);
    send(open(plain), plainTransfer(scene.payerAccount, plain.tokenAccount, 7n));
    const found = await transfersOf(checked);
    deepEqual(shorten(found), [credit(checked, 1_500_000)]);
    equal(found[0]?.chainTx, first);
    equal(found[0]?.token, USDC);
    deepEqual(shorten(await transfersOf(plain)), [credit(plain, 7)]);
    deepEqual([await unitsOf(checked), await unitsOf(plain)], [1_500_000n, 7n]);
  });

  test("a transfer inside another program counts like one at the top level", async () => {
    const inbox = inboxes.create();
    send(open(inbox), viaProgram(transfer(inbox.tokenAccount, 11n)));
    deepEqual(shorten(await transfersOf(inbox)), [credit(inbox, 11)]);
  });

  test("several transfers to one inbox in a transaction are one credit; minted tokens come from the mint", async () => {
    const [inbox, other, minted] = [inboxes.create(), inboxes.create(), inboxes.create()];
    send(
      open(inbox),
      open(other),
      transfer(inbox.tokenAccount, 3n),
      transfer(other.tokenAccount, 5n),
      viaProgram(transfer(inbox.tokenAccount, 4n)),
    );
    solana.control.mintTokens({ mint: USDC, owner: minted.address, units: 9n });
    deepEqual(shorten(await transfersOf(inbox)), [credit(inbox, 7)]);
    deepEqual(shorten(await transfersOf(other)), [credit(other, 5)]);
    deepEqual(shorten(await transfersOf(minted)), [credit(minted, 9, USDC)]);
  });

  test("the payer is the owner whose accounts decreased most, over all its accounts", async () => {
    const inbox = inboxes.create();
    const friend = createWallet(solana);
    payTokens(solana, { to: friend.address, units: 100n });
    const friendAccount = findTokenAccount({ owner: friend.address, mint: USDC });
    solana.control.send(
      [payer, friend],
      [
        open(inbox),
        transfer(inbox.tokenAccount, 10n),
        transferTokens({ from: friendAccount, to: inbox.tokenAccount, owner: friend.address, mint: USDC, units: 30n }),
      ],
    );
    deepEqual(shorten(await transfersOf(inbox)), [credit(inbox, 40, friend.address)]);
  });

  test("a failed transaction moves nothing", async () => {
    const inbox = inboxes.create();
    pay(inbox, 5n);
    const rpc = createSolanaRpc(solana.url);
    const { value: lifetime } = await rpc.getLatestBlockhash({ commitment: "processed" }).send();
    const signed = await signWithKit({
      payer,
      instructions: [transfer(inbox.tokenAccount, 6n), transfer(inbox.tokenAccount, 10n ** 18n)],
      lifetime,
    });
    const failed = await rpc
      .sendTransaction(getBase64EncodedWireTransaction(signed), { encoding: "base64", skipPreflight: true })
      .send();
    deepEqual(shorten(await transfersOf(inbox)), [credit(inbox, 5)]);
    const [proof] = await reader.proofs([failed]);
    deepEqual([proof?.succeeded, proof?.identityAt(0n), proof?.transfers?.()], [false, undefined, []]);
  });

  test("tokens of another mint or another token program are never those of the inbox's mint", async () => {
    const inbox = inboxes.create();
    pay(inbox, 5n);
    const { USDT, DUSD } = LOCAL_MINTS;
    for (const { address: mint, program } of [USDT, DUSD])
      payTokens(solana, { to: inbox.address, units: 1_000n, mint, program });
    const found = await transfersOf(inbox);
    deepEqual(
      found.map(({ token, amountText }) => [token, amountText]),
      [
        [USDC, "5"],
        [USDT.address, "1000"],
        [DUSD.address, "1000"],
      ],
    );
    const { number: toBlock } = await reader.head("latest");
    deepEqual((await reader.transfers({ fromBlock: 0n, toBlock }, [USDC], [inbox.address])).length, 1);
    equal(await unitsOf(inbox), 5n);
  });

  test("an account of the inbox at another address counts for nothing, until its money is moved", async () => {
    const inbox = inboxes.create();
    const own = createWallet(solana, 0n);
    solana.control.send(
      [payer, own],
      [
        ...createOwnAccount({ account: own.address, owner: inbox.address, mint: USDC }),
        open(inbox),
        transfer(own.address, 50n),
      ],
    );
    deepEqual(shorten(await transfersOf(inbox)), []);
    equal(await unitsOf(inbox), 0n);
  });

  test("money for the account of the account is credited when it comes back, and only once", async () => {
    const inbox = inboxes.create();
    const nested = nestedAccount(inbox);
    send(
      open(inbox),
      createTokenAccount(payer.address, { owner: inbox.tokenAccount, mint: USDC }),
      transfer(nested, 21n),
    );
    deepEqual(shorten(await transfersOf(inbox)), []);
    send(buildUnnest(inbox, USDC));
    deepEqual(shorten(await transfersOf(inbox)), [
      { from: inbox.tokenAccount, to: inbox.address, units: 21, identity: `${nested}/0` },
    ]);
    equal(await unitsOf(inbox), 21n);
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
  test("a settlement pays the wallet and the fee, each in a transfer of its own", async () => {
    const inbox = inboxes.create();
    pay(inbox, 10_000n);
    const from = scene.startBlock();
    const settling = solana.control.send([operator], [buildSettle([inbox], { rentRecipient: true })]);
    const listed = await listProgram(from);
    deepEqual(shorten(listed), settled(inbox, 10_000));
    equal(listed[0]?.chainTx, settling);
    deepEqual(shorten(await transfersOf(inbox)), [credit(inbox, 10_000), ...settled(inbox, 10_000)]);
    equal(await unitsOf(inbox), 0n);
    equal(solana.control.account(inbox.tokenAccount), undefined, "the account is closed");
  });

  test("a settlement inside another program shows the same", async () => {
    const inbox = inboxes.create();
    pay(inbox, 700n);
    const from = scene.startBlock();
    send(viaProgram(buildSettle([inbox])));
    deepEqual(shorten(await listProgram(from)), settled(inbox, 700));
  });

  test("eight inboxes settled by one instruction have sixteen transfers, each in its own place", async () => {
    const eight = Array.from({ length: 8 }, () => inboxes.create());
    for (const [index, inbox] of eight.entries()) pay(inbox, BigInt(1_000 + index));
    const from = scene.startBlock();
    solana.control.send([operator], [buildSettle(eight, { rentRecipient: true })]);
    const listed = await listProgram(from);
    deepEqual(
      shorten(listed),
      eight.flatMap((inbox, index) => settled(inbox, 1_000 + index)),
    );
    equal(new Set(listed.map(({ place }) => place)).size, 16);
    await assertProven(listed);
  });

  test("a deposit and its settlement in one transaction are both shown, also when the account exists only in it", async () => {
    for (const isClosed of [false, true]) {
      const inbox = inboxes.create();
      const from = scene.startBlock();
      const instructions = [
        open(inbox),
        transfer(inbox.tokenAccount, 2_000n),
        buildSettle([inbox], { rentRecipient: isClosed }),
      ];
      solana.control.send([payer, operator], instructions);
      const expected = [credit(inbox, 2_000), ...settled(inbox, 2_000)];
      deepEqual(shorten(await listProgram(from)), expected, `closed: ${isClosed}`);
      deepEqual(shorten(await transfersOf(inbox)), expected);
      const [proof] = await reader.proofs((await listProgram(from)).map(({ chainTx }) => chainTx).slice(0, 1));
      equal(proof?.transfers?.().length, 3);
    }
  });

  test("an account that others closed and handed over is none of the inbox's", async () => {
    const [wallet, inbox] = [createWallet(solana), inboxes.create()];
    payTokens(solana, { to: wallet.address, units: 40n });
    const account = findTokenAccount({ owner: wallet.address, mint: USDC });
    const handOver = Uint8Array.from([6, 2, 1, ...decodeKey("inbox", inbox.address)]);
    const accounts = [
      { address: account, isSigner: false, isWritable: true },
      { address: wallet.address, isSigner: true, isWritable: false },
    ];
    solana.control.send([payer, wallet], [{ program: inbox.tokenProgram, accounts, data: handOver }, open(inbox)]);
    deepEqual(shorten(await transfersOf(inbox)), []);
    equal(await unitsOf(inbox), 0n);
  });

  test("transactions with lookup tables show their transfers", async () => {
    const inbox = inboxes.create();
    send(open(inbox));
    const table = solana.control.createLookupTable([inbox.tokenAccount, scene.payerAccount, USDC]);
    solana.control.nextSlot();
    const rpc = createSolanaRpc(solana.url);
    const { value: lifetime } = await rpc.getLatestBlockhash({ commitment: "processed" }).send();
    const tables = { [table]: [inbox.tokenAccount, scene.payerAccount, USDC] };
    const signed = await signWithKit({
      payer,
      instructions: [transfer(inbox.tokenAccount, 64n), viaProgram(transfer(inbox.tokenAccount, 1n))],
      lifetime,
      tables,
    });
    await rpc.sendTransaction(getBase64EncodedWireTransaction(signed), { encoding: "base64" }).send();
    deepEqual(shorten(await transfersOf(inbox)), [credit(inbox, 65)]);
  });

  test("a frozen account still holds its money", async () => {
    const inbox = inboxes.create();
    pay(inbox, 12n);
    solana.control.setFrozen(inbox.tokenAccount, true);
    deepEqual(shorten(await transfersOf(inbox)), [credit(inbox, 12)]);
    equal(await unitsOf(inbox), 12n);
  });

  test("tokens of Token-2022 are read like the others", async () => {
    const { address: mint, program } = LOCAL_MINTS.DUSD;
    const inbox = inboxes.create(
      { mint, feeAccount: findTokenAccount({ owner: feeRecipient.address, mint, program }) },
      program,
    );
    for (const owner of [feeRecipient.address, inboxes.payout])
      send(createTokenAccount(payer.address, { owner, mint, program }));
    payTokens(solana, { to: inbox.address, units: 5_000n, mint, program });
    const from = scene.startBlock();
    solana.control.send([operator], [buildSettle([inbox], { rentRecipient: true })]);
    deepEqual(shorten(await listProgram(from)), settled(inbox, 5_000));
    deepEqual(shorten(await transfersOf(inbox)), [credit(inbox, 5_000), ...settled(inbox, 5_000)]);
  });

  test("minting, closing and empty transfers beside a settlement change none of its transfers", async () => {
    const inbox = inboxes.create();
    const other = createWallet(solana);
    pay(inbox, 800n);
    payTokens(solana, { to: other.address, units: 10n });
    const otherAccount = findTokenAccount({ owner: other.address, mint: USDC });
    const from = scene.startBlock();
    solana.control.send(
      [payer, other, issuer],
      [
        transferTokens({ from: otherAccount, to: scene.payerAccount, owner: other.address, mint: USDC, units: 10n }),
        closeAccount(otherAccount, other.address, other.address),
        transfer(inbox.tokenAccount, 0n),
        mintTokens({
          mint: USDC,
          to: scene.payerAccount,
          units: 1n,
          authority: issuer.address,
          program: inbox.tokenProgram,
        }),
        buildSettle([inbox]),
      ],
    );
    const listed = shorten(await listProgram(from));
    deepEqual(
      listed.filter(({ from: sender }) => sender === inbox.address),
      settled(inbox, 800),
    );
    deepEqual(
      listed.filter(({ to }) => to === inbox.address),
      [],
    );
  });
});
