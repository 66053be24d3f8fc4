import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import type { Browser, Page } from "playwright-core";
import { attestationUrls } from "../../packages/recover/src/bridge/attestation.ts";
import { DEV_ACCOUNTS, type DevAccount } from "../../src/dev/devAccounts.ts";
import { RECOVER_AFTER } from "../../programs/test/support/scene.ts";
import type { Keypair } from "../../programs/test/support/world.ts";
import { openBrowser } from "../support/browser.ts";
import type { TestChain } from "../support/chain.ts";
import { openRecoveryPage } from "../support/recoveryPage.ts";
import { openSolanaRecoveryPage } from "../support/solanaRecoveryPage.ts";
import type { DrillWorld } from "./payments.ts";
import { RECEIVER_OF_COINS, type Drill } from "./recoverAll.ts";

// The same as recoverAll.ts with recover.html, opened from its file in Chromium, and wallets of the browser.

const { stranger, payoutFirst, payoutSecond, recoverySecond } = DEV_ACCOUNTS;
const DONE = "Done. The remaining balances are shown above.";
const ACTIONS_MAX = 40;

export async function recoverByPage(world: DrillWorld, drill: Drill): Promise<void> {
  const browser = await openBrowser();
  try {
    const { home, origin, far } = world.evm;
    const visit = (account: DevAccount, chain: TestChain) => openOnEvm(browser, { world, drill, account, chain });
    const anyone = await visit(stranger, home);
    assert.ok(await clickFirst(anyone.page, /^Settle all \d+$/, DONE));
    anyone.current = origin;
    await clickAll(anyone.page, /^Bridge to chain/, /^Bridged by 0x/);
    await origin.finalize();
    anyone.current = home;
    await lookAgain(anyone.page);
    await receiveAll(anyone.page);
    await anyone.page.close();
    await rescueAll(await visit(payoutFirst, home));
    drill.print("Recovered on the EVM chains before the date.");
    const signature = await recoverOnSolana(browser, world, drill);
    const receiving = await visit(stranger, home);
    await receiving.page.locator("#burn-tx").fill(signature);
    await receiving.page.getByRole("button", { name: "Fetch from Circle" }).click();
    await receive(receiving.page);
    await receiving.page.close();
    drill.print("Recovered on Solana, and from Solana.");
    for (const { client } of [home, origin, far]) {
      await client.setNextBlockTimestamp({ timestamp: BigInt(drill.recoverAfter) });
      await client.mine({ blocks: 1 });
    }
    await rescueAll(await visit(payoutSecond, home));
    for (const chain of [origin, far]) await rescueAll(await visit(payoutFirst, chain));
    drill.print("Recovered on the EVM chains after the date.");
  } finally {
    await browser.close();
  }
}

/** `current` is the chain that the wallet is on. */
type Visit = { page: Page; current: TestChain };
type Opening = { world: DrillWorld; drill: Drill; account: DevAccount; chain: TestChain };

async function openOnEvm(browser: Browser, { world, drill, account, chain }: Opening): Promise<Visit> {
  const visit = { current: chain } as Visit;
  const { page } = await openRecoveryPage(browser, {
    account,
    chain: () => visit.current,
    intents: JSON.parse(readFileSync(drill.file, "utf8")) as unknown,
    service: {
      url: attestationUrls.main,
      answer: (path, method) => fetch(`${world.attestationUrl}${path}`, { method }),
    },
  });
  visit.page = page;
  await inspected(page);
  await page.getByText("Something is missing?").click();
  await page.locator("#bridges").fill(readFileSync(world.bridgesFile, "utf8"));
  await lookAgain(page);
  return visit;
}

/** Until the balances of the chain are shown. */
async function inspected(page: Page): Promise<void> {
  await page
    .locator("#chain-status")
    .filter({ hasText: /^Chain \d+ holds/ })
    .waitFor();
}

async function lookAgain(page: Page): Promise<void> {
  await page.locator("#chain-status").evaluate((status) => {
    status.textContent = "";
  });
  await page.getByRole("button", { name: "Look again" }).click();
  await inspected(page);
}

/** Clicks the first button of the name and waits for the words. Resolves with whether there was one. */
async function clickFirst(page: Page, name: RegExp, done: string | RegExp): Promise<boolean> {
  const button = page.locator("#holdings").getByRole("button", { name }).first();
  if ((await button.count()) === 0) return false;
  await page.locator("#act-status").evaluate((status) => {
    status.textContent = "";
  });
  await button.click();
  await page.locator("#act-status").getByText(done).waitFor();
  return true;
}

/** Looks at the chain and clicks, until no button of the name is left. */
async function clickAll(page: Page, name: RegExp, done: string | RegExp): Promise<void> {
  for (let actions = 0; actions < ACTIONS_MAX; actions += 1) {
    await lookAgain(page);
    if (!(await clickFirst(page, name, done))) return;
  }
  throw new Error(`more than ${ACTIONS_MAX} actions`);
}

async function rescueAll({ page }: Visit): Promise<void> {
  await page.getByLabel("Another receiver").fill(recoverySecond.address);
  await page.getByLabel("Another receiver").blur();
  await clickAll(page, /^Rescue to the wallet below$/, DONE);
  await page.close();
}

/** Receives everything of the list of burns. */
async function receiveAll(page: Page): Promise<void> {
  for (let burns = 0; burns < ACTIONS_MAX; burns += 1) {
    // The burns are compared after the balances.
    await page.waitForFunction(() => !/Switch to chain/.test(document.querySelector("#burned")?.textContent ?? ""));
    const row = page.locator("#burned li").filter({ hasText: "Not received on chain" }).first();
    if ((await row.count()) === 0) return;
    await row.getByRole("button", { name: "Fetch it from Circle" }).click();
    await receive(page);
    await lookAgain(page);
  }
}

async function receive(page: Page): Promise<void> {
  const status = page.locator("#receive-status");
  await status.getByText("Message and attestation are here").waitFor();
  await page.getByRole("button", { name: "Receive and settle" }).click();
  await status.getByText(/USDC were settled by 0x/).waitFor();
}

const solanaDone = /^Done by [1-9A-HJ-NP-Za-km-z]{86,88}\. /;

/** Resolves with the signature of the burn. */
async function recoverOnSolana(browser: Browser, { solana }: DrillWorld, drill: Drill): Promise<string> {
  const { scene, url } = solana;
  const keys = [scene.stranger, scene.recoverer];
  const send = (transaction: Uint8Array) => void scene.world.sendRaw(transaction);
  const { page } = await openSolanaRecoveryPage(browser, { keys, send, rpcUrl: url, width: 1_280 });
  await page.getByLabel("Intents as JSON").fill(readFileSync(drill.file, "utf8"));
  await page.getByLabel("RPC URL of the cluster").fill(url);
  await page.getByText("A private cluster, or another receiver?").click();
  await page.getByLabel("Inbox program").fill(scene.program);
  const look = () => page.getByRole("button", { name: "Show the balances" }).click();
  const clickEach = async (name: RegExp, of = "") => {
    for (let actions = 0; actions < ACTIONS_MAX; actions += 1) {
      await page.locator("#solana-status").filter({ hasText: "these inboxes hold" }).waitFor();
      const rows = page.locator("#solana-holdings li").filter({ hasText: of });
      const button = rows.getByRole("button", { name }).first();
      if ((await button.count()) === 0) return;
      await page.locator("#solana-act-status").evaluate((status) => {
        status.textContent = "";
      });
      await button.click();
      await page.locator("#solana-act-status").getByText(solanaDone).waitFor();
    }
  };
  await look();
  await page.getByRole("button", { name: "Connect Test Wallet" }).click();
  await page.locator("#solana-holdings").getByRole("button").first().waitFor();
  for (const name of [/^Return to the inbox$/, /^Settle to the payout$/, /^Bridge for/]) await clickEach(name);
  const row = page.locator("#burned li").filter({ hasText: "burned on Solana by" });
  const [, signature = ""] = /burned on Solana by (\w+),/.exec(await row.innerText()) ?? [];
  assert.match(signature, /^\w{86,88}$/);
  await switchTo(page, scene.recoverer);
  // The coins of the payment go to a wallet that pays no fees, so that they can be counted; rent that came back does
  // not.
  const rescue = async () => {
    await page.getByLabel("Wallet that receives").fill(RECEIVER_OF_COINS);
    await clickEach(/^Rescue the SOL$/, "pi_solana_coins");
    await page.getByLabel("Wallet that receives").fill("");
    await clickEach(/^Rescue/);
  };
  await rescue();
  scene.world.setTime(RECOVER_AFTER);
  await look();
  await rescue();
  await page.close();
  return signature;
}

async function switchTo(page: Page, { address }: Keypair): Promise<void> {
  await page.evaluate((to) => (window as never as { switchAccount(key: string): void }).switchAccount(to), address);
  await page.getByText(`Test Wallet: ${address}`).waitFor();
}
