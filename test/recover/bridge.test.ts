import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, beforeEach, describe, test } from "node:test";
import { cctpV2AdapterAddress } from "@tributary/inbox/cctpV2Adapter";
import type { Hex } from "@tributary/inbox/terms";
import { encodeFunctionData, parseAbi } from "viem";
import { DEFAULT_SETTINGS } from "../../src/dev/attestation/localAttestation.ts";
import { denylistCall, setMinFeeCall } from "../../src/dev/chains/bridge.ts";
import { DEV_ACCOUNTS } from "../../src/dev/devAccounts.ts";
import { showIntent } from "../../src/operator/intentOperations.ts";
import { toJson } from "../../src/operator/process/terminal.ts";
import { openBridgedRoad, type BridgedRoad } from "../support/bridgedRoad.ts";
import type { TestChain } from "../support/chain.ts";
import { renderCli, temporaryFolder, type CliResult } from "../support/cli.ts";
import { onlyDeep } from "../support/runNumber.ts";

// The service is gone: none of its loops runs. A stranger with the intent's record, gas and the RPC URLs of two chains
// bridges and settles.

const PAID = 5_000_000n;
const FEE_BPS = 50n;
const folder = temporaryFolder();
const bridgesFile = join(folder.path, "bridges.json");
const file = join(folder.path, "intent.json");
const transmitterAbi = parseAbi(["function receiveMessage(bytes message, bytes attestation)"]);
let road: BridgedRoad;
let home: TestChain;
let origin: TestChain;
let inbox: Hex;

before(async () => {
  road = await openBridgedRoad({ chains: 2 });
  [home, origin] = road.chains as [TestChain, TestChain];
  const table = road.sides.map(({ chainId, token, bridge: { domain, messenger, transmitter } }) => {
    return { chainId, domain, messenger, transmitter, usdc: token };
  });
  writeFileSync(bridgesFile, JSON.stringify(table));
});
after(async () => {
  folder.remove();
  await road.close();
});
/** Each test has an intent of its own, as `intents show --json` prints it, with money on the other chain. */
beforeEach(async () => {
  Object.assign(road.attestation.settings, DEFAULT_SETTINGS);
  road.attestation.setAnswering(true);
  inbox = await payNewIntent(PAID);
});

async function payNewIntent(units: bigint): Promise<Hex> {
  const { id } = await road.create(home);
  const shown = await showIntent.run(road.world, { intentId: id });
  const { intent } = shown;
  writeFileSync(file, toJson(shown));
  const address = intent.inboxAddress.toLowerCase() as Hex;
  await origin.pay(origin.usdc.address, address, { amountUnits: units });
  return address;
}

function recover(chain: TestChain, ...args: string[]): Promise<CliResult> {
  const key = { TRIBUTARY_RECOVER_KEY: DEV_ACCOUNTS.stranger.privateKey };
  const options = ["--bridges", bridgesFile, "--attestation-url", road.attestation.url];
  return renderCli(["recover", file, "--rpc", chain.rpcUrl, ...options, ...args], key);
}

type Act = { what: string; txHash: Hex; moved: { units: string }[] };

function actsOf({ out }: CliResult): Act[] {
  return (JSON.parse(out) as { acts: Act[] }[]).flatMap(({ acts }) => acts);
}

/** Bridges and returns the transaction of the burn. */
async function bridge(...args: string[]): Promise<Hex> {
  const run = await recover(origin, "--bridge", "--json", ...args);
  assert.equal(run.code, 0, run.err);
  const burn = actsOf(run).find(({ what }) => what === "bridge") ?? assert.fail(run.out);
  await origin.finalize();
  return burn.txHash;
}

type Balances = { payout: bigint; fee: bigint };

async function balances(): Promise<Balances> {
  const [payout, fee] = await Promise.all(
    [DEV_ACCOUNTS.payoutFirst, DEV_ACCOUNTS.feeRecipient].map(({ address }) =>
      home.balanceOf(home.usdc.address, address),
    ),
  );
  return { payout: payout ?? 0n, fee: fee ?? 0n };
}

async function assertSettled(earlier: Balances, gross: bigint): Promise<void> {
  const now = await balances();
  const fee = (gross * FEE_BPS) / 10_000n;
  assert.deepEqual([now.payout - earlier.payout, now.fee - earlier.fee], [gross - fee, fee]);
  assert.equal(await home.balanceOf(home.usdc.address, inbox), 0n);
}

type Signed = { messages: [{ message: Hex; attestation: Hex }] };

async function fetchSigned(burn: Hex): Promise<Signed["messages"][0]> {
  const response = await fetch(`${road.attestation.url}/v2/messages/1?transactionHash=${burn}`);
  return ((await response.json()) as Signed).messages[0];
}

describe("on the chain of the deposit", () => {
  test("the balance is shown with its way out; bridging burns it and names the next step", async () => {
    const shown = await recover(origin, "--json");
    const [{ holdings }] = JSON.parse(shown.out) as [{ holdings: { units: string; bridgeSpeeds: string[] }[] }];
    assert.deepEqual(
      holdings.map(({ units, bridgeSpeeds }) => [units, bridgeSpeeds]),
      [[String(PAID), ["fast", "standard"]]],
    );
    assert.match((await recover(origin)).out, /--bridge, with any key/);
    const run = await recover(origin, "--bridge");
    assert.equal(run.code, 0, run.err);
    assert.match(run.out, new RegExp(`bridged 5 USDC of ${inbox} by 0x[0-9a-f]{64}`));
    assert.match(run.out, /tributary recover .+ --rpc <its URL> --receive 0x[0-9a-f]{64} --key-file <file>/);
    assert.equal(await origin.balanceOf(origin.usdc.address, inbox), 0n);
    const again = await recover(origin, "--bridge");
    assert.deepEqual([again.code, /holds nothing/.test(again.out)], [0, true]);
  });

  test("a missing adapter is deployed first", { skip: onlyDeep }, async () => {
    const code = (await origin.client.getCode({ address: cctpV2AdapterAddress })) ?? assert.fail("no adapter");
    await origin.client.setCode({ address: cctpV2AdapterAddress, bytecode: "0x" });
    await origin.client.setNonce({ address: cctpV2AdapterAddress, nonce: 0 });
    const run = await recover(origin, "--bridge", "--json");
    assert.deepEqual(
      actsOf(run).map(({ what }) => what),
      ["deploy", "bridge"],
    );
    assert.equal(await origin.client.getCode({ address: cctpV2AdapterAddress }), code);
  });

  test("nothing is sent below the minimum, on the wrong chain, for unknown contracts, or without the routes", async () => {
    const onHome = await recover(home, "--bridge");
    assert.equal(onHome.code, 0, "the inbox holds nothing there");
    await home.mint(home.usdc.address, inbox, PAID);
    const paidOut = await recover(home, "--bridge");
    assert.equal(paidOut.code, 1);
    assert.match(paidOut.err, /They are paid out here: use --settle/);
    const unknown = await renderCli(["recover", file, "--rpc", origin.rpcUrl, "--bridge"], {
      TRIBUTARY_RECOVER_KEY: DEV_ACCOUNTS.stranger.privateKey,
    });
    assert.equal(unknown.code, 1);
    assert.match(unknown.err, /name them in --bridges/);
    const { intent } = JSON.parse(readFileSync(file, "utf8")) as { intent: { inboxTerms: object } };
    writeFileSync(file, JSON.stringify({ ...intent.inboxTerms, routes: undefined }));
    const unlisted = await recover(origin, "--bridge", "--token", origin.usdc.address);
    assert.equal(unlisted.code, 1);
    assert.match(unlisted.err, /only the root of its routes/);
    assert.equal(await origin.balanceOf(origin.usdc.address, inbox), PAID);
    inbox = await payNewIntent(1n);
    const small = await recover(origin, "--bridge");
    assert.equal(small.code, 1);
    assert.match(small.err, /takes at least 0\.000002/);
  });

  test("a fee above what the route allows is refused before anything is sent", async () => {
    const { bridge: contracts } = road.sides[1] ?? assert.fail("no second chain");
    road.attestation.settings.fastFeeBps = 31;
    const fast = await recover(origin, "--bridge", "--fast");
    assert.equal(fast.code, 1);
    assert.match(fast.err, /fast fee is now 0\.31 %, above the 0\.3 % of the route.*Leave out --fast/);
    // 0.2 percent, in ten-millionths.
    await origin.send(DEV_ACCOUNTS.issuer, [setMinFeeCall(contracts, 20_000n)]);
    const standard = await recover(origin, "--bridge");
    assert.equal(standard.code, 1);
    assert.match(standard.err, /minimum fee is above the 0\.1 % of the standard route.*Try --fast/);
    await origin.send(DEV_ACCOUNTS.issuer, [setMinFeeCall(contracts, 0n)]);
    const gas = await recover(origin, "--bridge", "--max-fee-gwei", "0.000000001");
    assert.match(gas.err, /above the ceiling of 0\.000000001 gwei/);
    await origin.send(DEV_ACCOUNTS.issuer, [denylistCall(contracts, inbox)]);
    const denied = await recover(origin, "--bridge");
    assert.match(denied.err, /The chain refuses to bridge USDC from 0x.+denylist/);
    assert.equal(await origin.balanceOf(origin.usdc.address, inbox), PAID);
  });
});

describe("on the chain of the payout", () => {
  test("standard: first not seen, then not signed, then received and settled; a repeat does nothing", async () => {
    road.attestation.settings.seenAfterMs = 3_600_000;
    const burn = await bridge();
    const unseen = await recover(home, "--receive", burn);
    assert.equal(unseen.code, 75);
    assert.match(unseen.out, /Not yet: 0x.+Circle has not seen a burn.+Run the same command again/);
    road.attestation.settings.seenAfterMs = 0;
    road.attestation.settings.delayReason = "insufficient_fee";
    const unsigned = await recover(home, "--receive", burn, "--json");
    assert.equal(unsigned.code, 75);
    const [{ pending }] = JSON.parse(unsigned.out) as [{ pending: { burn: string; state: string; reason: string }[] }];
    assert.deepEqual(
      pending.map((each) => [each.burn, each.state, each.reason.includes("(insufficient_fee)")]),
      [[burn, "unsigned", true]],
    );
    road.attestation.settings.delayReason = undefined;
    const earlier = await balances();
    const run = await recover(home, "--receive", burn);
    assert.equal(run.code, 0, run.err);
    assert.match(run.out, /received and settled 5 USDC of 0x/);
    await assertSettled(earlier, PAID);
    const again = await recover(home, "--receive", burn);
    assert.equal(again.code, 0, again.err);
    assert.match(again.err, /received and settled already/);
    await assertSettled(earlier, PAID);
  });

  test("fast: Circle's fee is taken, and an expired attestation is asked for anew", { skip: onlyDeep }, async () => {
    Object.assign(road.attestation.settings, { expiresAfterBlocks: 3n, renewedAfterMs: 0 });
    const burn = await bridge("--fast");
    const { message, attestation } = await fetchSigned(burn);
    await home.mine(3);
    const byHand = await recover(home, "--message", message, "--attestation", attestation);
    assert.equal(byHand.code, 75, byHand.err);
    assert.match(byHand.out, /expired, and Circle was asked for a new one.+Give that one/);
    await fetchSigned(burn);
    await home.mine(3);
    const expired = await recover(home, "--receive", burn);
    assert.equal(expired.code, 75, expired.err);
    assert.match(expired.out, /expired, and Circle was asked for a new one.+Run the same command again/);
    const earlier = await balances();
    const run = await recover(home, "--receive", burn);
    assert.equal(run.code, 0, run.err);
    await assertSettled(earlier, PAID - 650n);
  });

  test("message and attestation by hand need no service", async () => {
    const burn = await bridge();
    const { message, attestation } = await fetchSigned(burn);
    road.attestation.setAnswering(false);
    const down = await recover(home, "--receive", burn);
    assert.equal(down.code, 1);
    assert.match(down.err, /--message and --attestation work without the service.+does not answer/);
    const earlier = await balances();
    const forged = await recover(home, "--message", message, "--attestation", `0x${"11".repeat(65)}`);
    assert.equal(forged.code, 1);
    assert.match(forged.err, /Circle's contract refuses the message: .*Invalid signature/);
    const run = await recover(home, "--message", message, "--attestation", attestation);
    assert.equal(run.code, 0, run.err);
    await assertSettled(earlier, PAID);
  });

  test("a burn that a stranger received before is settled; what a stranger settled too is done", async () => {
    const burn = await bridge();
    const { message, attestation } = await fetchSigned(burn);
    const { bridge: contracts } = road.sides[0] ?? assert.fail("no first chain");
    const args = [message, attestation] as const;
    const data = encodeFunctionData({ abi: transmitterAbi, functionName: "receiveMessage", args });
    await home.send(DEV_ACCOUNTS.payer, [{ to: contracts.transmitter, data }]);
    assert.equal(await home.balanceOf(home.usdc.address, inbox), PAID);
    const earlier = await balances();
    const run = await recover(home, "--receive", burn);
    assert.equal(run.code, 0, run.err);
    assert.match(run.err, /Somebody received the burn already/);
    await assertSettled(earlier, PAID);
  });

  test("the wrong chain and a burn of another inbox are refused", async () => {
    const burn = await bridge();
    const wrong = await recover(origin, "--receive", burn);
    assert.equal(wrong.code, 1);
    assert.match(
      wrong.err,
      new RegExp(`paid out, which is chain ${home.chainId}; --rpc leads to chain ${origin.chainId}`),
    );
    const { message, attestation } = await fetchSigned(burn);
    await payNewIntent(PAID);
    const signature = "5".repeat(88);
    assert.equal((await recover(home, "--receive", signature)).code, 75, "a burn on Solana is asked for there");
    assert.equal(road.attestation.requests.at(-1)?.path, `/v2/messages/5?transactionHash=${signature}`);
    const foreign = await recover(home, "--receive", burn);
    assert.equal(foreign.code, 1);
    assert.match(foreign.err, /burned nothing for these inboxes/);
    const byHand = await recover(home, "--message", message, "--attestation", attestation);
    assert.match(byHand.err, /none of these inboxes/);
  });
});

test("options that do not fit together are refused", async () => {
  for (const [args, message] of [
    [["--fast"], /--fast needs --bridge/],
    [["--receive", "0x12"], /--receive must be the hash/],
    [["--message", "0x12"], /belong together/],
    [["--message", "0x12", "--attestation", "0x12"], /must be the hex of a burn/],
    [["--attestation-url", "ftp://x"], /--attestation-url must be an http\(s\) URL/],
  ] as const) {
    const run = await renderCli(["recover", file, "--rpc", home.rpcUrl, ...args]);
    assert.equal(run.code, 2, run.err);
    assert.match(run.err, message);
  }
});
