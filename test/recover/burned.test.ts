import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, beforeEach, describe, test } from "node:test";
import type { Hex } from "@tributary/inbox/terms";
import { encodeFunctionData, parseAbi } from "viem";
import { DEFAULT_SETTINGS } from "../../src/dev/attestation/localAttestation.ts";
import { DEV_ACCOUNTS } from "../../src/dev/devAccounts.ts";
import { showIntent } from "../../src/operator/intentOperations.ts";
import { toJson } from "../../src/operator/process/terminal.ts";
import { openBridgedRoad, type BridgedRoad } from "../support/bridgedRoad.ts";
import type { TestChain } from "../support/chain.ts";
import { renderCli, temporaryFolder, type CliResult } from "../support/cli.ts";

// Somebody burned, and vanished. The money is on no chain until it is received, so only the burn itself shows it.

const PAID = 5_000_000n;
const transmitterAbi = parseAbi(["function receiveMessage(bytes message, bytes attestation)"]);

describe("burned and not received", () => {
  const folder = temporaryFolder();
  const bridgesFile = join(folder.path, "bridges.json");
  const file = join(folder.path, "intent.json");
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
  beforeEach(async () => {
    Object.assign(road.attestation.settings, DEFAULT_SETTINGS);
    const shown = await showIntent.run(road.world, { intentId: (await road.create(home)).id });
    writeFileSync(file, toJson(shown));
    inbox = shown.intent.inboxAddress.toLowerCase() as Hex;
  });

  function recover(chains: readonly TestChain[], ...args: string[]): Promise<CliResult> {
    const key = { TRIBUTARY_RECOVER_KEY: DEV_ACCOUNTS.stranger.privateKey };
    const rpc = chains.map(({ rpcUrl }) => rpcUrl).join(",");
    const options = ["--bridges", bridgesFile, "--attestation-url", road.attestation.url];
    return renderCli(["recover", file, "--rpc", rpc, ...options, ...args], key);
  }

  /** A stranger pays and bridges, and keeps the hash to himself. */
  async function burn(): Promise<Hex> {
    await origin.pay(origin.usdc.address, inbox, { amountUnits: PAID });
    const run = await recover([origin], "--bridge", "--json");
    assert.equal(run.code, 0, run.err);
    await origin.finalize();
    const [{ acts }] = JSON.parse(run.out) as [{ acts: { what: string; txHash: Hex }[] }];
    return acts.find(({ what }) => what === "bridge")?.txHash ?? assert.fail(run.out);
  }

  type Burned = { burned: { burn: string; units: string; state: string }[] };
  const statesIn = ({ out }: CliResult) =>
    (JSON.parse(out) as Burned[]).flatMap(({ burned }) => burned.map((each) => [each.burn, each.units, each.state]));

  async function fetchSigned(txHash: Hex): Promise<{ message: Hex; attestation: Hex }> {
    const response = await fetch(`${road.attestation.url}/v2/messages/1?transactionHash=${txHash}`);
    const { messages } = (await response.json()) as { messages: [{ message: Hex; attestation: Hex }] };
    return messages[0];
  }

  test("it is listed with the command that receives it, and no more once it was received", async () => {
    const txHash = await burn();
    const seen = await recover([home, origin]);
    assert.equal(seen.code, 0, seen.err);
    assert.match(seen.out, new RegExp(`Burned for Chain ${home.chainId}, not received there:\n {2}5 USDC for pi_`));
    const next = new RegExp(`--rpc <URL of chain ${home.chainId}> --receive ${txHash} --key-file <file>`);
    assert.match(seen.out, next);
    assert.deepEqual(statesIn(await recover([home, origin], "--json")), [[txHash, String(PAID), "open"]]);
    const alone = await recover([origin]);
    assert.match(alone.out, /add its URL to --rpc to see whether it arrived/);
    assert.match(alone.out, next);
    const received = await recover([home], "--receive", txHash);
    assert.equal(received.code, 0, received.err);
    assert.deepEqual(statesIn(await recover([home, origin], "--json")), [[txHash, String(PAID), "received"]]);
    assert.doesNotMatch((await recover([home, origin])).out, /not received there/);
  });

  test("what a payer bridges in the same amount does not hide it", async () => {
    const first = await burn();
    const message = await fetchSigned(first);
    const second = await burn();
    const { transmitter } = road.sides[0]?.bridge ?? assert.fail("no first chain");
    const args = [message.message, message.attestation] as const;
    const data = encodeFunctionData({ abi: transmitterAbi, functionName: "receiveMessage", args });
    await home.send(DEV_ACCOUNTS.payer, [{ to: transmitter, data }]);
    // A mint of the token's issuer, which is no burn's.
    await home.mint(home.usdc.address, inbox, PAID);
    const states = statesIn(await recover([home, origin], "--json")).map(([, , state]) => state);
    assert.deepEqual(new Set(states), new Set(["open", "received"]), `${first} ${second}`);
  });

  test("a look at the payout's chain alone names the chains where burns would show", async () => {
    const seen = await recover([home]);
    assert.match(seen.out, new RegExp(`add the URLs of Chain ${origin.chainId} to --rpc`));
  });
});
