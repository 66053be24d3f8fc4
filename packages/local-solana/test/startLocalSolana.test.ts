import assert from "node:assert/strict";
import { test } from "node:test";
import {
  address,
  createSolanaRpc,
  createSolanaRpcSubscriptions,
  getSignatureFromTransaction,
  sendAndConfirmTransactionFactory,
  signature,
} from "@solana/kit";
import { createWallet, payTokens, sharedSolana, startTestSolana } from "../../../test/support/solana.ts";
import { signWithKit } from "../../../test/support/solanaKit.ts";
import { LOCAL_INBOX_PROGRAM, LOCAL_MINTS, SOLANA_ACCOUNTS } from "../src/fixtures.ts";
import { sendLamports } from "../src/instructions.ts";

const { payer } = SOLANA_ACCOUNTS;
const stored = { commitment: "confirmed", maxSupportedTransactionVersion: 0, encoding: "json" } as const;

test("kit sends a transfer and sees it confirmed over the websocket", async () => {
  const solana = await startTestSolana({ slotMs: 20 });
  const rpc = createSolanaRpc(solana.url);
  const rpcSubscriptions = createSolanaRpcSubscriptions(solana.wsUrl);
  const receiver = createWallet(solana, 0n).address;
  const { value: lifetime } = await rpc.getLatestBlockhash().send();
  const instructions = [sendLamports(payer.address, receiver, 5_000_000n)];
  const signed = await signWithKit({ payer, instructions, lifetime });
  await sendAndConfirmTransactionFactory({ rpc, rpcSubscriptions })(signed, { commitment: "confirmed" });
  const { value } = await rpc.getBalance(address(receiver), { commitment: "confirmed" }).send();
  assert.equal(value, 5_000_000n);
  const found = await rpc.getTransaction(getSignatureFromTransaction(signed), stored).send();
  assert.equal(found?.meta?.fee, 5_000n);
});

test("the chain begins with the inbox program and four mints", async () => {
  const solana = await sharedSolana();
  const rpc = createSolanaRpc(solana.url);
  const program = await rpc.getAccountInfo(address(LOCAL_INBOX_PROGRAM), { encoding: "base64" }).send();
  assert.equal(program.value?.executable, true);
  const wallet = createWallet(solana);
  for (const { address: mint, program: tokenProgram } of Object.values(LOCAL_MINTS)) {
    payTokens(solana, { to: wallet.address, units: 12_500_000n, mint, program: tokenProgram });
    const owned = await rpc
      .getTokenAccountsByOwner(
        address(wallet.address),
        { mint: address(mint) },
        { encoding: "jsonParsed", commitment: "processed" },
      )
      .send();
    assert.equal(owned.value[0]?.account.data.parsed.info.tokenAmount.uiAmountString, "12.5");
  }
});

test("a transaction shows once its block is confirmed, with the token balances before and after", async () => {
  const solana = await startTestSolana();
  const rpc = createSolanaRpc(solana.url);
  const receiver = createWallet(solana);
  const paid = signature(payTokens(solana, { to: receiver.address, units: 1_500_000n }));
  assert.equal(await rpc.getTransaction(paid, stored).send(), null);
  solana.control.confirm();
  const meta = (await rpc.getTransaction(paid, stored).send())?.meta;
  const unitsOf = (balances: readonly unknown[]) =>
    (balances as { owner: string; uiTokenAmount: { amount: string } }[]).find(({ owner }) => owner === receiver.address)
      ?.uiTokenAmount.amount;
  assert.deepEqual(
    [unitsOf(meta?.preTokenBalances ?? []), unitsOf(meta?.postTokenBalances ?? [])],
    [undefined, "1500000"],
  );
});
