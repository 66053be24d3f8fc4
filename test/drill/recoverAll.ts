import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DEV_ACCOUNTS } from "../../src/dev/devAccounts.ts";
import { RECOVER_AFTER } from "../../programs/test/support/scene.ts";
import type { Keypair } from "../../programs/test/support/world.ts";
import { renderCli, type CliResult } from "../support/cli.ts";
import type { DrillWorld } from "./payments.ts";

// What a merchant does by docs/operate/recover.md. It uses the file of responses, keys and URLs, and reads nothing else
// of the world; the chains' time and the issuer's block are the only things that are set here.

export type Drill = { folder: string; file: string; recoverAfter: number; print: (line: string) => void };
type Runner = (words: readonly string[], expected: { code: number; says?: RegExp }) => Promise<CliResult>;

export async function recoverAll(world: DrillWorld, drill: Drill): Promise<void> {
  await recoverNow(world, drill);
  await recoverOnSolana(world, drill);
  await recoverAfterDate(world, drill);
}

/** Before the recovery date: any key, and the recovery key on the payout's chain. */
async function recoverNow({ evm, bridgesFile, attestationUrl }: DrillWorld, drill: Drill): Promise<void> {
  const { home, origin, far, liar } = evm.nodes;
  const bridge = ["--bridges", bridgesFile, "--attestation-url", attestationUrl];
  const anyone = runAs(drill, DEV_ACCOUNTS.stranger.privateKey);
  const owner = runAs(drill, DEV_ACCOUNTS.payoutFirst.privateKey);
  await anyone(["--rpc", liar.url], { code: 0, says: /holds nothing.*ask a second one/ });
  await anyone(["--rpc", far.url], { code: 0, says: /--rescue by 0x\w+ from \d{4}-/ });
  const looked = await anyone(["--rpc", `${home.url},${origin.url}`, ...bridge], {
    code: 0,
    says: /not received there:/,
  });
  const settled = await anyone(["--rpc", home.url, "--settle"], { code: 1, says: /settled 25 USDC/ });
  assert.match(settled.err, /did not settle: its token rejects the transfer/);
  const to = ["--to", DEV_ACCOUNTS.recoverySecond.address];
  await owner(["--rpc", home.url, "--rescue", ...to], { code: 0, says: /rescued 3 DUSD/ });
  const burned = await anyone(["--rpc", origin.url, "--bridge", ...bridge, "--json"], { code: 0 });
  await evm.origin.finalize();
  const own = (JSON.parse(burned.out) as [{ acts: { what: string; txHash: string }[] }])[0].acts
    .filter(({ what }) => what === "bridge")
    .map(({ txHash }) => txHash);
  // What a stranger burned is known from the look alone.
  const [, strangers = ""] = /--receive (0x[0-9a-f,x]+) /.exec(looked.out) ?? [];
  assert.match(strangers, /^0x[0-9a-f]{64}$/, looked.out);
  await anyone(["--rpc", home.url, "--receive", [strangers, ...own].join(","), ...bridge], {
    code: 0,
    says: /received and settled 13 USDC/,
  });
  drill.print("Recovered on the EVM chains before the date.");
}

async function recoverOnSolana(world: DrillWorld, drill: Drill): Promise<void> {
  const { solana, evm, bridgesFile, attestationUrl } = world;
  const { scene, url } = solana;
  const cluster = ["--rpc", url, "--program", scene.program];
  const withKey = (key: Keypair) => ["--key-file", writeKey(drill, key)];
  const run = runAs(drill, undefined);
  await run([...cluster], { code: 0, says: /--settle with any key/ });
  await run([...cluster, "--settle", ...withKey(scene.stranger)], { code: 0 });
  // Coins go to a wallet that pays no fees, so that they can be counted.
  const coins = keepOnly(drill, "pi_solana_coins");
  const takeCoins = () =>
    runAs(coins, undefined)([...cluster, "--rescue", ...withKey(scene.recoverer), "--to", RECEIVER_OF_COINS], {
      code: 0,
    });
  await takeCoins();
  await run([...cluster, "--rescue", ...withKey(scene.recoverer)], { code: 0 });
  const bridged = await run([...cluster, "--bridge", ...withKey(scene.stranger)], {
    code: 1,
    says: /bridge of 10000000/,
  });
  assert.match(bridged.err, /no less than the minimum/);
  const looked = await run([...cluster], { code: 0, says: /Burned for/ });
  const [, signature = ""] = /--receive (\w+) /.exec(looked.out) ?? [];
  const bridge = ["--bridges", bridgesFile, "--attestation-url", attestationUrl];
  const anyone = runAs(drill, DEV_ACCOUNTS.stranger.privateKey);
  await anyone(["--rpc", evm.nodes.home.url, "--receive", signature, ...bridge], {
    code: 0,
    says: /received and settled 10 USDC/,
  });
  scene.world.setTime(RECOVER_AFTER);
  await takeCoins();
  await run([...cluster, "--rescue", ...withKey(scene.recoverer)], { code: 0 });
  drill.print("Recovered on Solana, and from Solana.");
}

/** From the recovery date on the recovery key takes everything, also on chains that the service never knew. */
async function recoverAfterDate({ evm }: DrillWorld, drill: Drill): Promise<void> {
  const { home, origin, far } = evm.nodes;
  const owner = runAs(drill, DEV_ACCOUNTS.payoutFirst.privateKey);
  const to = ["--to", DEV_ACCOUNTS.recoverySecond.address];
  await owner(["--rpc", origin.url, "--rescue"], { code: 1, says: /--rescue by 0x\w+ from/ });
  for (const { client } of [evm.home, evm.origin, evm.far]) {
    await client.setNextBlockTimestamp({ timestamp: BigInt(drill.recoverAfter) });
    await client.mine({ blocks: 1 });
  }
  const second = runAs(drill, DEV_ACCOUNTS.payoutSecond.privateKey);
  const blocked = await second(["--rpc", home.url, "--settle"], { code: 1 });
  assert.match(blocked.err, /which its issuer may block/);
  const own = await second(["--rpc", home.url, "--rescue"], { code: 1 });
  assert.match(own.err, /the token refuses the transfer to the receiver/);
  await second(["--rpc", home.url, "--rescue", ...to], { code: 0 });
  for (const { url } of [origin, far]) await owner(["--rpc", url, "--rescue", ...to], { code: 0 });
  await owner(["--rpc", `${home.url},${origin.url},${far.url}`], { code: 0 });
  drill.print("Recovered on the EVM chains after the date.");
}

/** A wallet that pays no fees. */
export const RECEIVER_OF_COINS = "7EqQdEULxWcraVx3mXKFjc84LhCkMGZCkRuDpvcMwJeK";

function runAs({ file, print }: Drill, key: string | undefined): Runner {
  return async (words, { code, says }) => {
    const run = await renderCli(["recover", file, ...words], key === undefined ? {} : { TRIBUTARY_RECOVER_KEY: key });
    const detail = `recover ${words.join(" ")}\n${run.out}\n${run.err}`;
    if (run.code !== code) print(detail);
    assert.equal(run.code, code, detail);
    if (says !== undefined) assert.match(run.out, says, detail);
    return run;
  };
}

/** The same with a file of one intent. */
function keepOnly({ file, ...drill }: Drill, intentId: string): Drill {
  const kept = JSON.parse(readFileSync(file, "utf8")) as { intentId: string }[];
  const only = `${file}.${intentId}.json`;
  writeFileSync(only, JSON.stringify(kept.filter((each) => each.intentId === intentId)));
  return { ...drill, file: only };
}

function writeKey({ folder }: Drill, { address, key }: Keypair): string {
  const { d = "", x = "" } = key.export({ format: "jwk" });
  const file = join(folder, `${address}.json`);
  writeFileSync(file, JSON.stringify([...Buffer.from(d, "base64url"), ...Buffer.from(x, "base64url")]));
  return file;
}
