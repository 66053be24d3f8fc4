import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { hubAddress } from "@tributary/inbox/hub";
import { getAddress, type Hex } from "viem";
import { DEV_ACCOUNTS } from "../../src/dev/devAccounts.ts";
import { chooseFreePort } from "../support/freePort.ts";
import { openDatabase } from "../../src/db/database.ts";
import { startTestChain, type TestChain } from "../support/chain.ts";
import { runCli, temporaryFolder } from "../support/cli.ts";
import { addMerchant } from "../support/merchants.ts";
import { createDatabaseOn, startOwnServer } from "../support/database.ts";
import { openInstallation } from "../support/serviceInstallation.ts";

// Server and database are lost. The merchant still has the API's answer, a key
// and an RPC URL.

const WALLET: Hex = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8";
const FEE_BPS = 100;
const folder = temporaryFolder();
const file = join(folder.path, "intent.json");
let home: TestChain;
let other: TestChain;
let inbox: Hex;
let recoverAfter: number;

before(async () => {
  [home, other] = await Promise.all([startTestChain(), startTestChain({ chainId: 900_002 })]);
  // The hub is not deployed on this chain.
  await clearCode(other, hubAddress);
  const intent = await runThenWipeServer();
  writeFileSync(file, JSON.stringify(intent));
  inbox = intent.inboxAddress.toLowerCase() as Hex;
  recoverAfter = intent.inboxTerms.recoverAfter;
  // Late payments, after the service is gone.
  await home.pay(home.usdc.address, inbox, { amountUnits: 5_000_000n });
  await home.pay(home.dusd.address, inbox, { amountUnits: 7n * 10n ** 18n });
  await other.pay(other.usdc.address, inbox, { amountUnits: 9_000_000n });
});

after(async () => {
  folder.remove();
  await Promise.all([home.stop(), other.stop()]);
});

/** Resets an address to an account without code and nonce. */
async function clearCode({ client }: TestChain, address: Hex): Promise<void> {
  await client.setCode({ address, bytecode: "0x" });
  await client.setNonce({ address, nonce: 0 });
}

type Answer = { inboxAddress: string; inboxTerms: { recoverAfter: number } };

/** A real service issues an intent; then it is killed and its database deleted. */
async function runThenWipeServer(): Promise<Answer> {
  const server = await startOwnServer({ isDurable: true });
  const databaseUrl = await createDatabaseOn(server, "service");
  const db = await openDatabase({ url: databaseUrl });
  const { apiKey } = await addMerchant(db, {
    feeBps: FEE_BPS,
    chainReference: String(home.chainId),
    wallet: WALLET,
    recovery: DEV_ACCOUNTS.recoveryFirst.address,
  });
  const site = await openInstallation({ chain: home, databaseUrl, port: await chooseFreePort() });
  const running = await site.start();
  try {
    const response = await fetch(`${site.baseUrl}/api/v1/intents`, {
      method: "POST",
      headers: { authorization: `Bearer ${apiKey}`, "service-version": "2026-11-01" },
    });
    assert.equal(response.status, 201);
    return (await response.json()) as Answer;
  } finally {
    await running.kill();
    await db.close();
    await Promise.all([site.remove(), server.remove()]);
  }
}

function recover(args: readonly string[], key: Hex) {
  return runCli(["recover", file, ...args], { TRIBUTARY_RECOVER_KEY: key });
}

describe("without server and database", () => {
  test("shows each chain's holdings and possible actions without a key", async () => {
    const run = await runCli(["recover", file, "--rpc", `${home.rpcUrl},${other.rpcUrl}`, "--json"]);
    assert.equal(run.code, 0, run.err);
    const chains = JSON.parse(run.out) as { chainId: string; hub: string; holdings: Record<string, unknown>[] }[];
    assert.deepEqual(
      chains.map(({ chainId, hub }) => [chainId, hub]),
      [
        ["900001", "present"],
        ["900002", "absent"],
      ],
    );
    const seen = chains.flatMap(({ holdings }) => holdings.map(({ token, units, way }) => ({ token, units, way })));
    const by = DEV_ACCOUNTS.recoveryFirst.address;
    assert.deepEqual(seen, [
      { token: home.usdc.address, units: "5000000", way: { kind: "settle" } },
      {
        token: home.dusd.address,
        units: "7000000000000000000",
        way: { kind: "rescue", by, fromSeconds: 0, isDue: true },
      },
      {
        token: other.usdc.address,
        units: "9000000",
        way: { kind: "rescue", by, fromSeconds: recoverAfter, isDue: false },
      },
    ]);
  });

  test("a stranger's key settles late money to the merchant's wallet, less the fee", async () => {
    const run = await recover(["--rpc", home.rpcUrl, "--settle", "--rescue"], DEV_ACCOUNTS.stranger.privateKey);
    assert.equal(run.code, 0, run.err);
    assert.equal(await home.balanceOf(home.usdc.address, WALLET), 4_950_000n);
    assert.equal(await home.balanceOf(home.usdc.address, DEV_ACCOUNTS.feeRecipient.address), 50_000n);
    assert.equal(await home.balanceOf(home.dusd.address, inbox), 7n * 10n ** 18n, "only recovery may rescue");
  });

  test("the recovery key rescues the wrong token at once", async () => {
    const run = await recover(["--rpc", home.rpcUrl, "--rescue"], DEV_ACCOUNTS.recoveryFirst.privateKey);
    assert.equal(run.code, 0, run.err);
    assert.match(run.out, /rescued 7 DUSD/);
    assert.equal(await home.balanceOf(home.dusd.address, WALLET), 7n * 10n ** 18n);
  });

  test("money on another chain is rescued from recoverAfter on, after deploying the hub", async () => {
    const early = await recover(["--rpc", other.rpcUrl, "--rescue"], DEV_ACCOUNTS.recoveryFirst.privateKey);
    assert.equal(early.code, 1, "nothing was rescued");
    assert.match(early.err, /^Not rescued: USDC in 0x/m);
    assert.equal(await other.balanceOf(other.usdc.address, inbox), 9_000_000n);
    await other.client.setNextBlockTimestamp({ timestamp: BigInt(recoverAfter) });
    await other.mine(1);
    const to = DEV_ACCOUNTS.payoutSecond.address;
    const due = await recover(
      ["--rpc", other.rpcUrl, "--rescue", "--to", getAddress(to)],
      DEV_ACCOUNTS.recoveryFirst.privateKey,
    );
    assert.equal(due.code, 0, due.err);
    assert.equal(await other.balanceOf(other.usdc.address, to), 9_000_000n);
  });

  test("a repeated recovery moves nothing and reports empty inboxes", async () => {
    const args = ["--rpc", `${home.rpcUrl},${other.rpcUrl}`, "--settle", "--rescue"];
    const run = await recover(args, DEV_ACCOUNTS.recoveryFirst.privateKey);
    assert.equal(run.code, 0, run.err);
    assert.equal(run.out.match(/holds nothing for these inboxes/g)?.length, 2, run.out);
  });
});

describe("verify", () => {
  test("passes for the merchant's wallet, and names any other expectation that fails", async () => {
    const right = await runCli(["verify", file, "--payout", WALLET, "--chain", "900001", "--fee-bps-max", "100"]);
    assert.equal(right.code, 1, "its recovery address is neither the payout wallet nor named");
    const recovery = ["--recovery", DEV_ACCOUNTS.recoveryFirst.address];
    const named = await runCli(["verify", file, "--payout", WALLET, "--chain", "900001", ...recovery]);
    assert.equal(named.code, 0, named.out + named.err);
    for (const [args, reason] of [
      [["--payout", DEV_ACCOUNTS.payoutSecond.address], "wrong_payout"],
      [["--payout", WALLET, "--chain", "1"], "wrong_chain"],
      [["--payout", WALLET, "--fee-bps-max", "99"], "fee_too_high"],
      [["--payout", WALLET, "--token", DEV_ACCOUNTS.stranger.address], "wrong_token"],
      [["--payout", WALLET, "--inbox", DEV_ACCOUNTS.stranger.address], "wrong_address"],
    ] as const) {
      const run = await runCli(["verify", file, ...args, ...recovery]);
      assert.equal(run.code, 1);
      assert.match(run.out, new RegExp(`\\(${reason}\\)`));
    }
  });
});
