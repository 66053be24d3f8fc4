import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { hubSalt } from "@tributary/inbox/hub";
import { hubCreationCode } from "@tributary/inbox/hubCode";
import { request } from "undici";
import { DEV_ACCOUNTS } from "../../src/dev/devAccounts.ts";
import { startLocalChains, type LocalChains } from "../../src/dev/chains/localChains.ts";
import { chooseFreePort } from "../support/freePort.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { runCli, spawnCli, temporaryFolder } from "../support/cli.ts";
import { createDatabaseOn, startOwnServer } from "../support/database.ts";
import { onlyDeep } from "../support/runNumber.ts";

// The operator's main path on one local chain: configure, create a merchant, serve, take payments, stop.

const folder = temporaryFolder();
const POLLS_MAX = 2_400;
const POLL_MS = 50;
let chains: LocalChains;

before(async () => {
  const hub = { creationCode: hubCreationCode, salt: hubSalt };
  chains = await startLocalChains({ chains: [{ chainId: 900_001, name: "Operator's Chain" }], hub });
});

after(async () => {
  await chains.stop();
  folder.remove();
});

function writeConfig(port: number, database: object = { directory: "database" }): string {
  const [chain] = chains.chains;
  writeFileSync(join(folder.path, "gas.key"), `${DEV_ACCOUNTS.operator.privateKey}\n`);
  const config = {
    environment: "test",
    listen: { port },
    database,
    feeRecipient: DEV_ACCOUNTS.feeRecipient.address,
    feeBps: 100,
    defaultRail: "own:usdc",
    chains: [
      {
        chainId: 900_001,
        name: "Operator's Chain",
        slug: "own",
        rpcUrls: [chain?.rpcUrl],
        publicRpcUrl: chain?.rpcUrl,
        explorerUrl: "http://explorer.test",
        native: { name: "Ether", symbol: "ETH", decimals: 18 },
        gasKeyFile: "gas.key",
        pollMs: 200,
        settleAfterMs: 0,
        finality: [{ confirmations: 1 }],
        tokens: chain?.tokens.map(({ symbol, address, decimals }) => ({ symbol, address, decimals })),
        defaultToken: "USDC",
      },
    ],
  };
  const file = join(folder.path, "config.json");
  writeFileSync(file, JSON.stringify(config));
  return file;
}

async function waitUntilReady(baseUrl: string): Promise<void> {
  for (let poll = 0; poll < POLLS_MAX; poll += 1) {
    const status = await request(`${baseUrl}/readyz`).then(
      ({ statusCode }) => statusCode,
      () => 0,
    );
    if (status === 200) return;
    await systemClock.sleep(POLL_MS);
  }
  throw new Error("the service did not become ready");
}

test("accounts brand changes how the checkout looks, and shows it", { skip: onlyDeep }, async (t) => {
  const server = await startOwnServer({ isDurable: true });
  t.after(() => server.remove());
  const config = writeConfig(await chooseFreePort(), { url: await createDatabaseOn(server, "looks") });
  const run = async (...words: string[]) => {
    const { code, out, err } = await runCli([...words, "--config", config, "--json"], { TRIBUTARY_HOME: folder.path });
    return { code, output: code === 0 ? JSON.parse(out) : out + err };
  };
  const logo = join(folder.path, "logo.svg");
  writeFileSync(logo, '<svg viewBox="0 0 1 1"><script/><path d="M0 0"/></svg>');
  const { accountId } = (await run("accounts", "create", "Looks")).output;
  const options = ["--accent", "#ABC", "--radius-px", "8", "--logo", logo, "--support", "help@shop.example"];
  const changed = await run("accounts", "brand", accountId, ...options);
  assert.equal(changed.code, 0, String(changed.output));
  const { accent, radiusPx, support } = changed.output;
  assert.deepEqual([accent, radiusPx, support], ["#aabbcc", 8, "mailto:help@shop.example"]);
  assert.equal(changed.output.logo.type, "image/svg+xml");
  const removed = await run("accounts", "brand", accountId, "--logo", "none", "--radius-px", "none");
  assert.deepEqual([removed.output.accent, removed.output.radiusPx, removed.output.logo], ["#aabbcc", null, null]);
  assert.deepEqual((await run("accounts", "brand", accountId)).output, removed.output);
  for (const wrong of [
    ["--accent", "red"],
    ["--radius-px", "25"],
    ["--logo", join(folder.path, "none.png")],
  ]) {
    const refused = await run("accounts", "brand", accountId, ...wrong);
    assert.notEqual(refused.code, 0);
    assert.match(refused.output, /accent|--radius-px|--logo/);
  }
});

test("serve runs the configuration, commands use the process or the database, and SIGTERM drains it", async (t) => {
  const port = await chooseFreePort();
  const config = writeConfig(port);
  const baseUrl = `http://127.0.0.1:${port}`;
  const variables = { TRIBUTARY_HOME: folder.path };

  assert.equal((await runCli(["migrate", "--config", config], variables)).code, 0);
  const wallet = DEV_ACCOUNTS.payoutFirst.address;
  const words = ["accounts", "create", "Own Shop", "--chain", "own", "--wallet", wallet, "--config", config, "--json"];
  const made = await runCli(words, variables);
  assert.equal(made.code, 0, made.err);
  const { accountId } = JSON.parse(made.out) as { accountId: string };

  const child = spawnCli(["serve", "--config", config], variables);
  t.after(() => child.kill("SIGKILL"));
  let log = "";
  child.stderr?.on("data", (piece: Buffer) => (log += piece.toString()));
  await waitUntilReady(baseUrl);

  const taken = await runCli(["accounts", "list", "--config", config], variables);
  assert.equal(taken.code, 1);
  assert.match(taken.err, new RegExp(`is in use by process ${child.pid}`));
  const key = (await runCli(["keys", "create", accountId], variables)).out.trim();
  const demo = await runCli(
    [
      "demo",
      "--json",
      "--base-url",
      baseUrl,
      "--api-key-env",
      "KEY",
      "--rpc-url",
      chains.chains[0]?.rpcUrl ?? "",
      "--payer-key-env",
      "PAYER",
    ],
    { ...variables, KEY: key, PAYER: DEV_ACCOUNTS.payer.privateKey },
  );
  assert.equal(demo.code, 0, demo.err);
  assert.match(demo.out, /"found":"24\.75 USDC"/, "a fee of 100 bps");
  const [intentId = ""] = /pi_\w+/.exec(demo.out) ?? [];
  const [txHash = ""] = /0x[0-9a-f]{64}/.exec(demo.err) ?? [];
  for (const target of [intentId, txHash]) {
    const again = await runCli(["rescan", target], variables);
    assert.deepEqual([again.code, again.out], [0, "Operator's Chain: read again, nothing new\n"]);
  }

  const ended = once(child, "exit");
  child.kill("SIGTERM");
  await ended;
  assert.equal(child.exitCode, 0, log);
  for (const secret of [key, DEV_ACCOUNTS.operator.privateKey.slice(2)]) assert.ok(!log.includes(secret));
});
