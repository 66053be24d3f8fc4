import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { computeSolanaInbox } from "@tributary/inbox/solana/address";
import { deriveTokenAccount } from "@tributary/inbox/solana/derive";
import { tokenProgram } from "@tributary/inbox/solana/keys";
import type { SolanaPayTerms } from "@tributary/inbox/solana/terms";
import { solanaTermsToWire } from "@tributary/inbox/solana/wire";
import type { Browser } from "playwright-core";
import { LOCAL_INBOX_PROGRAM, LOCAL_MINTS, SOLANA_ACCOUNTS } from "../../packages/local-solana/src/fixtures.ts";
import { startLocalSolana, type LocalSolana } from "../../packages/local-solana/src/startLocalSolana.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { skipWithoutChromium } from "../support/browser.ts";
import { sharedBrowser } from "../support/sharedBrowser.ts";
import { createWallet, payTokens } from "../support/solana.ts";
import { openSolanaRecoveryPage } from "../support/solanaRecoveryPage.ts";

// The recovery page on a chain with slots, commitments and a preflight, as a public cluster has them.

const SLOT_MS = 50;
const { payoutFirst, feeRecipient, recoveryFirst, operator, stranger } = SOLANA_ACCOUNTS;

describe("the recovery page on the local Solana", { skip: skipWithoutChromium }, () => {
  let solana: LocalSolana;
  let browser: Browser;

  before(async () => {
    [solana, browser] = await Promise.all([startLocalSolana({ clock: systemClock, slotMs: SLOT_MS }), sharedBrowser()]);
  });
  after(async () => {
    await solana.stop();
  });

  test("it settles when the transaction is confirmed, and the node's simulation stops what would fail", async () => {
    const { address: mint } = LOCAL_MINTS.USDC;
    const accountOf = (owner: string) => deriveTokenAccount(owner, mint, tokenProgram).address;
    const terms: SolanaPayTerms = {
      kind: "pay",
      salt: `0x${"5a".repeat(32)}`,
      mint,
      payout: payoutFirst.address,
      feeAccount: accountOf(feeRecipient.address),
      feeBps: 100,
      rentRecipient: operator.address,
      recovery: recoveryFirst.address,
      recoverAfter: 4_000_000_000,
    };
    const inbox = computeSolanaInbox(terms, { program: LOCAL_INBOX_PROGRAM, tokenProgram });
    payTokens(solana, { to: feeRecipient.address, units: 1n });
    payTokens(solana, { to: inbox.address, units: 3_000_000n });
    solana.control.confirm();
    const poor = createWallet(solana, 0n);
    const { page, errors, asked } = await openSolanaRecoveryPage(browser, {
      keys: [poor, stranger],
      rpcUrl: solana.url,
    });
    const file = { inboxTerms: { solana: solanaTermsToWire(terms, inbox) } };
    await page.getByLabel("Intents as JSON").fill(JSON.stringify(file));
    await page.getByLabel("RPC URL of the cluster").fill(solana.url);
    await page.getByText("A private cluster, or another receiver?").click();
    await page.getByLabel("Inbox program").fill(LOCAL_INBOX_PROGRAM);
    await page.getByRole("button", { name: "Show the balances" }).click();
    await page.getByRole("button", { name: "Connect Test Wallet" }).click();
    const settle = page.getByRole("button", { name: "Settle to the payout" });
    await settle.click();
    await page.getByText("the connected wallet has too little SOL for the fee and the rent").waitFor();
    assert.equal(asked.count, 0);
    await page.evaluate(
      (to) => (window as never as { switchAccount(key: string): void }).switchAccount(to),
      stranger.address,
    );
    asked.beforeNext = () => solana.control.expireBlockhashes();
    await settle.click();
    await page.getByText("The wallet answered too late, and nothing was sent. Try again.").waitFor();
    await settle.click();
    await page.getByText(/^Done by \w+\. The remaining balances are shown above\.$/).waitFor();
    await page.getByText("these inboxes hold nothing").waitFor();
    assert.deepEqual(
      [solana.control.units(accountOf(payoutFirst.address)), solana.control.units(terms.feeAccount), asked.count],
      [2_970_000n, 30_001n, 2],
    );
    assert.deepEqual(errors, []);
    await page.close();
  });
});
