import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { computeInboxAddress } from "@tributary/inbox/address";
import { checksumAddress } from "@tributary/inbox/checksum";
import { computeRoutesRoot } from "@tributary/inbox/routes";
import type { SolanaInbox } from "@tributary/inbox/solana/address";
import { cctpTransmitter } from "@tributary/inbox/solana/cctp";
import { decodeKey, noKey } from "@tributary/inbox/solana/keys";
import { solanaTermsToWire } from "@tributary/inbox/solana/wire";
import type { Terms } from "@tributary/inbox/terms";
import { termsToWire } from "@tributary/inbox/wire";
import type { Browser, Page } from "playwright-core";
import { attestationUrls } from "../../packages/recover/src/bridge/attestation.ts";
import { startRpcServer } from "../../programs/test/support/rpcServer.ts";
import { RECOVER_AFTER, Scene, START } from "../../programs/test/support/scene.ts";
import {
  associated,
  createAssociated,
  fund,
  sendLamports,
  setFrozen,
  transferTokens,
} from "../../programs/test/support/tokens.ts";
import type { Keypair } from "../../programs/test/support/world.ts";
import { assertAccessible } from "../support/axe.ts";
import { skipWithoutChromium } from "../support/browser.ts";
import { sharedBrowser } from "../support/sharedBrowser.ts";
import type { RoutedService } from "../support/recoveryPage.ts";
import { openSolanaRecoveryPage } from "../support/solanaRecoveryPage.ts";
import type { StandardWalletKind } from "../support/standardWallet.ts";

// The recovery page in a real browser, with the inbox program in the real runtime behind JSON-RPC.

describe("the recovery page on Solana", { skip: skipWithoutChromium }, () => {
  const scene = new Scene();
  const { world, mint, otherMint, payer, stranger, operator, recoverer, feeAccount, payoutAccount } = scene;
  let server: Awaited<ReturnType<typeof startRpcServer>>;
  let browser: Browser;

  before(async () => {
    [server, browser] = await Promise.all([startRpcServer(world, "1".repeat(44)), sharedBrowser()]);
  });
  after(async () => {
    await server.close();
  });

  function toIntents(inboxes: readonly SolanaInbox[]) {
    return inboxes.map((inbox, index) => ({
      intentId: `pi_${index}`,
      inboxTerms: { solana: { ...solanaTermsToWire(inbox.terms, inbox), address: inbox.address } },
    }));
  }

  type OpenOptions = {
    kind?: StandardWalletKind;
    chains?: readonly string[];
    service?: RoutedService;
    file?: object;
  };

  async function open(
    inboxes: readonly SolanaInbox[],
    keys: readonly Keypair[],
    { file = { data: toIntents(inboxes) }, ...options }: OpenOptions = {},
  ) {
    const send = (transaction: Uint8Array) => void world.sendRaw(transaction);
    const opened = await openSolanaRecoveryPage(browser, { keys, send, rpcUrl: server.url, ...options });
    const { page } = opened;
    await page.getByLabel("Intents as JSON").fill(JSON.stringify(file));
    await page.getByLabel("RPC URL of the cluster").fill(server.url);
    await page.getByText("A private cluster, or another receiver?").click();
    await page.getByLabel("Inbox program").fill(scene.program);
    await page.getByRole("button", { name: "Show the balances" }).click();
    await page.getByText("127.0.0.1").waitFor();
    return opened;
  }

  const connect = (page: Page) => page.getByRole("button", { name: "Connect Test Wallet" }).click();
  const rowOf = (page: Page, text: string) => page.locator("#solana-holdings li").filter({ hasText: text });
  const switchTo = (page: Page, { address }: Keypair) =>
    page.evaluate((to) => (window as never as { switchAccount(key: string): void }).switchAccount(to), address);
  const done = (page: Page) => page.getByText(/^Done by [1-9A-HJ-NP-Za-km-z]{86,88}\. /).waitFor();

  test("a stranger reads without a wallet, settles with one, and sees beforehand what it does", async () => {
    const inbox = scene.paid(3_000_000n);
    const before = [world.units(payoutAccount), world.units(feeAccount)] as const;
    const { page, errors, asked } = await open([inbox], [stranger]);
    await page.getByText("Inbox on Solana").waitFor();
    const row = rowOf(page, "3 tokens");
    await row.getByText("Anyone can send it. Connect a wallet.").waitFor();
    await row.getByText("The recovery key may take it from 2027-07-07.").waitFor();
    assert.equal(await row.getByRole("button").count(), 0);
    assert.equal(await page.getByRole("button", { name: "Connect Other Wallet" }).count(), 0);
    assert.equal(await page.locator("#wallet-step").isVisible(), false);
    await connect(page);
    await row
      .getByText(
        `Sends 2.985 tokens to the wallet ${scene.merchant.address}, and the fee of 0.015 tokens to ${feeAccount}.`,
      )
      .waitFor();
    await assertAccessible(page);
    const widths = await page.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth] as const);
    assert.equal(widths[0], widths[1], "nothing is wider than a phone");
    await row.getByRole("button", { name: "Settle to the payout" }).click();
    await done(page);
    await page.getByText("these inboxes hold nothing").waitFor();
    const after = [world.units(payoutAccount), world.units(feeAccount)] as const;
    assert.deepEqual([after[0] - before[0], after[1] - before[1], asked.count], [2_985_000n, 15_000n, 1]);
    assert.deepEqual(errors, []);
    await page.close();
  });

  test("many inboxes of one merchant are settled together, seven in a transaction", async () => {
    const inboxes = Array.from({ length: 8 }, (_, index) => scene.paid(BigInt(index + 1) * 1_000_000n));
    const fresh = world.createWallet(0n);
    const elsewhere = scene.paid(20_000_000n, { payout: fresh.address });
    const before = world.units(payoutAccount);
    const { page, errors, asked } = await open([...inboxes, elsewhere], [stranger]);
    await connect(page);
    await rowOf(page, "9 balances to settle").getByText("Does the same for each of them, in 3 transactions.").waitFor();
    await page.getByRole("button", { name: "Settle all 9" }).click();
    await done(page);
    await page.getByText("these inboxes hold nothing").waitFor();
    const paid = [world.units(payoutAccount) - before, world.units(associated(fresh.address, mint)), asked.count];
    assert.deepEqual(paid, [35_820_000n, 19_900_000n, 3]);
    assert.deepEqual(errors, []);
    await page.close();
  });

  for (const kind of ["signs", "sends"] as const)
    test(`a stranger bridges with a wallet that ${kind}, over either route`, async () => {
      const inboxes = [scene.paidHop(2_000_000n), scene.paidHop(5_000_000n), scene.paidHop(999_999n)];
      const supply = world.supply(mint);
      const { page, errors, asked } = await open(inboxes, [stranger], { kind });
      await connect(page);
      await rowOf(page, "0.999999 tokens").getByText("The bridge takes at least 1 token:").waitFor();
      await rowOf(page, "2 tokens").getByRole("button", { name: "Bridge for at most 0.1 %" }).click();
      await page.getByText(/^Done by \w+\. Keep this signature\./).waitFor();
      assert.equal(supply - world.supply(mint), 2_000_000n);
      const fast = rowOf(page, "5 tokens");
      await fast.getByText("this file does not show whose inbox that is").first().waitFor();
      await fast.getByRole("button", { name: "Bridge fast for at most 0.3 %" }).click();
      await rowOf(page, "5 tokens").waitFor({ state: "detached" });
      await done(page);
      assert.deepEqual([supply - world.supply(mint), asked.count], [7_000_000n, 2]);
      assert.deepEqual(errors, []);
      await page.close();
    });

  test("the page proves whose inbox a burn pays, and hands its signature on to the step that receives it", async () => {
    const terms: Terms = {
      salt: scene.nextSalt(),
      settleChainId: 8_453n,
      settleToken: "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913",
      payout: `0x${"aa".repeat(20)}`,
      feeRecipient: `0x${"bb".repeat(20)}`,
      feeBps: 50,
      recovery: `0x${"cc".repeat(20)}`,
      recoverAfter: RECOVER_AFTER,
      routesRoot: computeRoutesRoot([]),
    };
    const address = computeInboxAddress(terms);
    const hop = scene.paidHop(4_000_000n, {
      salt: terms.salt,
      mintRecipient: `0x${"0".repeat(24)}${address.slice(2)}`,
    });
    const intent = {
      intentId: "pi_both",
      inboxAddress: address,
      inboxTerms: { ...termsToWire(terms), solana: solanaTermsToWire(hop.terms, hop) },
    };
    const paths: string[] = [];
    const answer = (path: string) => {
      paths.push(path);
      return Promise.resolve(Response.json({ messages: [signBurn(readBurnTo(hop))] }));
    };
    const { page, errors } = await open([hop], [stranger], {
      service: { url: attestationUrls.main, answer },
      file: intent,
    });
    await page.getByText("2 inboxes, each recomputed from its terms.").waitFor();
    assert.equal(await page.locator("#wallet-step").isVisible(), true);
    await connect(page);
    const row = rowOf(page, "4 tokens");
    await row.getByText(`the inbox ${checksumAddress(address)} of the same file on chain 8453`).waitFor();
    await row.getByRole("button", { name: "Bridge for at most 0.1 %" }).click();
    await page.getByText(/Keep this signature\./).waitFor();
    await page.getByRole("button", { name: "Fetch from Circle" }).click();
    await page.getByText("Message and attestation are here. Receive them on the payout's chain.").waitFor();
    const signature = await page.getByLabel("Transaction that bridged").inputValue();
    assert.match(signature, /^[1-9A-HJ-NP-Za-km-z]{86,88}$/);
    assert.deepEqual(paths, [`/v2/messages/5?transactionHash=${signature}`]);
    await page.getByRole("button", { name: "Receive and settle" }).click();
    await page.locator("#receive-status").getByText("Connect your wallet first.").waitFor();
    assert.deepEqual(errors, []);
    await page.close();
  });

  /** The message that the burn of an inbox wrote on the cluster. */
  function readBurnTo({ terms }: SolanaInbox): Buffer {
    const recipient = terms.kind === "hop" ? terms.mintRecipient.slice(2) : "";
    const events = world.svm.getProgramAccounts(decodeKey("transmitter", cctpTransmitter));
    const found = events
      .map((event) => Buffer.from(event.account().data()))
      .find((data) => data.includes(recipient, 0, "hex"));
    return found?.subarray(52) ?? assert.fail("no burn");
  }

  /** As Circle's service shows a signed burn: with a nonce. */
  function signBurn(message: Buffer): object {
    const numbered = Buffer.from(message);
    numbered.fill(7, 12, 44);
    return { message: `0x${numbered.toString("hex")}`, attestation: `0x${"ab".repeat(65)}`, status: "complete" };
  }

  test("only the recovery key is offered a rescue: another mint at once, the pinned one in time", async () => {
    const inbox = scene.paid(5_000_000n);
    fund(world, operator, { owner: inbox.address, mint: otherMint, units: 7_500_000n });
    const { page, errors } = await open([inbox], [stranger, recoverer]);
    await connect(page);
    const wrong = rowOf(page, "7.5 tokens");
    await wrong.getByText(`Connect the recovery key ${recoverer.address} to rescue it.`).waitFor();
    assert.equal(await wrong.getByRole("button").count(), 0);
    await switchTo(page, recoverer);
    await wrong.getByText(`Sends 7.5 tokens to the wallet ${recoverer.address}.`).waitFor();
    await wrong.getByRole("button", { name: "Rescue" }).click();
    await done(page);
    assert.equal(world.units(associated(recoverer.address, otherMint)), 7_500_000n);
    const pinned = rowOf(page, "5 tokens");
    assert.equal(await pinned.getByRole("button", { name: "Rescue" }).count(), 0);
    world.setTime(RECOVER_AFTER);
    await page.getByRole("button", { name: "Show the balances" }).click();
    const receiver = world.createWallet(1_000_000n).address;
    await page.getByLabel("Wallet that receives what is rescued").fill(feeAccount);
    await pinned.getByRole("button", { name: "Rescue" }).click();
    await page.getByText(`${feeAccount} is a token account or a mint: name the wallet that owns the account`).waitFor();
    await page.getByLabel("Wallet that receives what is rescued").fill(receiver);
    await pinned
      .getByText(`Sends 4.975 tokens to the wallet ${receiver}, and the fee of 0.025 tokens to ${feeAccount}.`)
      .waitFor();
    await pinned.getByRole("button", { name: "Rescue" }).click();
    await done(page);
    world.setTime(START);
    assert.equal(world.units(associated(receiver, mint)), 4_975_000n);
    assert.deepEqual(errors, []);
    await page.close();
  });

  test("tokens below the token account return, the recovery key takes SOL, and the rent recipient its rent", async () => {
    const [inbox, primed] = [scene.paid(1_000n), scene.pay()];
    const nested = associated(inbox.tokenAccount, mint);
    world.must(
      [payer],
      [
        createAssociated(payer, inbox.tokenAccount, { mint }),
        transferTokens({ from: scene.payerAccount, to: nested, mint, owner: payer.address, units: 9_000_000n }),
        sendLamports(payer, inbox.address, 9_000_000n),
        sendLamports(payer, primed.address, 890_880n),
      ],
    );
    const { page, errors } = await open([inbox, primed], [stranger, recoverer, operator]);
    await connect(page);
    await rowOf(page, "as if that were a wallet").getByRole("button", { name: "Return to the inbox" }).click();
    await done(page);
    assert.equal(world.units(inbox.tokenAccount), 9_001_000n);
    await switchTo(page, recoverer);
    const held = world.lamports(inbox.address);
    const before = world.lamports(recoverer.address);
    await rowOf(page, "SOL").getByRole("button", { name: "Rescue the SOL" }).click();
    await page.getByRole("button", { name: "Rescue the SOL" }).waitFor({ state: "detached" });
    await done(page);
    assert.equal(world.lamports(inbox.address), 890_880n);
    assert.equal(world.lamports(recoverer.address) - before, held - 890_880n - 5_000n);
    await switchTo(page, operator);
    const rent = rowOf(page, primed.address);
    await rent.getByText("Sends 0.00089088 SOL to your wallet, which is the rent recipient of the terms.").waitFor();
    await rent.getByRole("button", { name: "Take the rent back" }).click();
    await rent.waitFor({ state: "detached" });
    assert.equal(world.lamports(primed.address), 0n);
    assert.deepEqual(errors, []);
    await page.close();
  });

  test("the wallet is not asked for what would fail, and its refusal moves nothing", async () => {
    const inbox = scene.paid(1_000_000n);
    const poor = world.createWallet(0n);
    const { page, asked } = await open([inbox], [poor, stranger]);
    await connect(page);
    const settle = page.getByRole("button", { name: "Settle to the payout" });
    await settle.click();
    await page.getByText("the connected wallet has too little SOL for the fee and the rent").waitFor();
    await switchTo(page, stranger);
    world.must([operator], [setFrozen(inbox.tokenAccount, mint, { authority: operator, isFrozen: true })]);
    await settle.click();
    await page.getByText("so the wallet was not asked: the token's issuer froze the inbox.").waitFor();
    assert.equal(asked.count, 0);
    world.must([operator], [setFrozen(inbox.tokenAccount, mint, { authority: operator, isFrozen: false })]);
    asked.refusesNext = true;
    await settle.click();
    await page.getByText("User rejected the request.").waitFor();
    assert.deepEqual([asked.count, world.units(inbox.tokenAccount)], [1, 1_000_000n]);
    await page.close();
  });

  test("a wallet that can only send sends nothing to a cluster that it does not know", async () => {
    const inbox = scene.paid(1_000_000n);
    const { page, asked } = await open([inbox], [stranger], { kind: "sends", chains: ["solana:mainnet"] });
    await connect(page);
    await page.getByRole("button", { name: "Settle to the payout" }).click();
    await page.getByText("Test Wallet cannot sign for this cluster, solana:localnet.").waitFor();
    assert.equal(asked.count, 0);
    await page.close();
  });

  test("a messenger that is not Circle's never gets the wallet's signature", async () => {
    const { page } = await open([scene.paidHop(2_000_000n, { messenger: scene.robber, recovery: noKey })], [stranger]);
    await connect(page);
    await rowOf(page, "2 tokens").getByText("a messenger that is not Circle's, so it is not bridged here").waitFor();
    assert.equal(await page.locator("#solana-holdings button").count(), 0);
    await page.close();
  });

  test("a server that refuses a request as one too many is asked again", async () => {
    const inbox = scene.paid(6_000_000n);
    const { page } = await open([inbox], [stranger]);
    let refused = 0;
    await page.route(`${server.url}/**`, (route) => {
      if (refused === 2) return route.continue();
      refused += 1;
      return route.fulfill({ status: 429, headers: { "access-control-allow-origin": "*" } });
    });
    await page.getByRole("button", { name: "Show the balances" }).click();
    await page.locator("#solana-status").getByText("these inboxes hold:").waitFor();
    await rowOf(page, "6 tokens").waitFor();
    assert.equal(refused, 2);
    await page.close();
  });

  test("wrong input is refused with the name of its field", async () => {
    const inbox = scene.paid(1_000_000n);
    const [intent] = toIntents([inbox]);
    const solana = intent?.inboxTerms.solana;
    const { page, errors } = await open([inbox], [stranger]);
    const fileCases: readonly (readonly [object, string])[] = [
      [{ ...solana, mint: "me" }, "inboxTerms.solana: mint must be the base58 of 32 bytes."],
      [{ ...solana, feeBps: 1_001 }, "inboxTerms.solana: feeBps must be at most 1000."],
      [{ ...solana, version: 2 }, "inboxTerms.solana: version is 2, and this release knows 1."],
      [{ ...solana, address: mint }, `its terms determine the inbox ${inbox.address}, not`],
    ];
    for (const [terms, message] of fileCases) {
      await page.getByLabel("Intents as JSON").fill(JSON.stringify({ inboxTerms: { solana: terms } }));
      await page.locator("#intents-status").getByText(message).waitFor();
      assert.equal(await page.locator("#solana-step").isVisible(), false);
    }
    await page.getByLabel("Intents as JSON").fill(JSON.stringify(intent));
    const status = page.locator("#solana-status");
    const look = page.getByRole("button", { name: "Show the balances" });
    const fieldCases: readonly (readonly [string, string, string])[] = [
      ["RPC URL of the cluster", "http://example.com", "The RPC URL must begin with https://"],
      [
        "RPC URL of the cluster",
        "http://127.0.0.1:1",
        "127.0.0.1:1 does not answer, or refuses requests of web pages.",
      ],
      ["Inbox program", "me", "Inbox program: me is not the base58 of 32 bytes."],
      ["Inbox program", "", "has no published inbox program: name yours"],
      ["Inbox program", scene.robber, `The inbox ${inbox.address} belongs to the program ${scene.program}`],
    ];
    for (const [label, value, message] of fieldCases) {
      await page.getByLabel("RPC URL of the cluster").fill(server.url);
      await page.getByLabel("Inbox program").fill(scene.program);
      await page.getByLabel(label).fill(value);
      await look.click();
      await status.getByText(message).waitFor();
      assert.equal(await page.locator("#solana-holdings li").count(), 0);
    }
    await page.getByLabel("Inbox program").fill(scene.program);
    await look.click();
    await rowOf(page, "1 token").waitFor();
    await page.getByLabel("Wallet that receives what is rescued").fill("0x12");
    await status.getByText("Receiver: 0x12 is not the base58 of 32 bytes.").waitFor();
    assert.deepEqual(
      errors.filter((text) => !/127\.0\.0\.1:1|ERR_/.test(text)),
      [],
    );
    await page.close();
  });
});
