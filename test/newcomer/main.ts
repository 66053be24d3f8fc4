import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import type { Hex } from "viem";
import { DEV_ACCOUNTS } from "../../src/dev/devAccounts.ts";
import { HUB } from "../../src/dev/chains/contracts.ts";
import { stripComments } from "../../src/kernel/text/stripComments.ts";
import { heading, tabulate } from "../bench/detect/statistics.ts";
import { findDumpPrograms } from "../chaos/runRestore.ts";
import { startTestChain, type TestChain } from "../support/chain.ts";
import { temporaryFolder } from "../support/cli.ts";
import { createDatabaseOn } from "../support/database.ts";
import { chooseFreePort } from "../support/freePort.ts";
import { startServerPair, type ServerPair } from "../support/serverPair.ts";
import { chainFields } from "../support/serviceInstallation.ts";

// What a newcomer does in the first half hour, as docs/operate/half-hour.md writes it down: from a clone to a failover.
// Each step runs the commands of that page, in a clone, and has its time.

const USAGE = `Usage: npm run newcomer [-- --linked]

  --linked  uses the packages of this folder instead of npm ci`;
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const WAIT_MS_MAX = 120_000;
const UNITS = 25_000_000n;
const VERSION = "2026-11-01";
const run = promisify(execFile);

type Site = {
  /** The clone. */
  folder: string;
  config: string;
  chain: TestChain;
  pair: ServerPair;
  environment: NodeJS.ProcessEnv;
  alarmFile: string;
};
type Service = { child: ChildProcess; url: string; output: () => string };

const { values } = parseArgs({
  options: { linked: { type: "boolean", default: false }, help: { type: "boolean", default: false } },
});
if (values.help) {
  console.log(USAGE);
  process.exit(0);
}
const steps: [name: string, seconds: string][] = [];
await using closing = new AsyncDisposableStack();
console.log(heading());
await live(values.linked);
console.log(tabulate([["step", "s"], ...steps]));

async function step<T>(name: string, work: () => Promise<T>): Promise<T> {
  const startedMs = performance.now();
  const result = await work();
  steps.push([name, ((performance.now() - startedMs) / 1_000).toFixed(1)]);
  return result;
}

async function live(isLinked: boolean): Promise<void> {
  const home = temporaryFolder();
  closing.defer(() => home.remove());
  const folder = join(home.path, "tributary");
  await step("clone and npm ci", () => clone(folder, isLinked));
  const site = await openSite(folder, home.path);
  await step("production configuration, and its check", () => configure(site));
  const first = await step("start", () => serve(site));
  const apiKey = await step("account and key", () => createMerchant(site));
  const paid = await step("first payment, until it is paid out", () => pay(site, first, apiKey));
  await step("first alarm: a provider goes silent", () => raiseAlarm(site));
  const dump = join(home.path, "dump.sql");
  await step("backup", () => backUp(site, dump));
  await step("restore into an empty database, and look", () => restore(site, { dump, intentId: paid }));
  const second = await step("upgrade: check, start beside, stop the old one", () => upgrade(site, first, apiKey));
  await step("failover, until the next payment is paid out", () => failOver(site, second, apiKey));
  await stop(second);
}

async function clone(folder: string, isLinked: boolean): Promise<void> {
  await run("git", ["clone", "--quiet", "--depth", "1", `file://${ROOT}`, folder]);
  if (isLinked) symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  else await run("npm", ["ci", "--no-audit", "--no-fund", "--omit=dev"], { cwd: folder });
}

/** What exists before: a chain with a hub, and two PostgreSQL servers. */
async function openSite(folder: string, home: string): Promise<Site> {
  const [chain, pair] = await Promise.all([startTestChain({ hub: HUB }), startServerPair()]);
  closing.defer(() => chain.stop());
  closing.defer(() => pair.remove());
  await createDatabaseOn(pair.primary, "service", "empty");
  const environment = {
    ...process.env,
    TRIBUTARY_DATABASE_URL: pair.urlOf("service"),
    TRIBUTARY_HOME: join(home, "home"),
    TRIBUTARY_GAS_KEY_LOCAL: DEV_ACCOUNTS.operator.privateKey,
  };
  return { folder, config: join(folder, "my.json"), chain, pair, environment, alarmFile: join(home, "alarms") };
}

async function tributary({ folder, environment }: Site, ...words: string[]): Promise<string> {
  const { stdout } = await run("node", ["bin/tributary.js", ...words], { cwd: folder, env: environment });
  return stdout;
}

/** The chain is no public network, so its entry is written by hand, and so is the command for alarms. */
async function configure(site: Site): Promise<void> {
  const { config, chain, alarmFile } = site;
  await tributary(site, "init", "my.json", "--yes");
  const file = JSON.parse(stripComments(readFileSync(config, "utf8"))) as Record<string, unknown>;
  const command = ["/bin/sh", "-c", `cat >>${alarmFile}; echo >>${alarmFile}`];
  const fields = chainFields(chain, { gasKeyEnv: "TRIBUTARY_GAS_KEY_LOCAL", pollMs: 200, settleAfterMs: 0 });
  const changed = { ...file, chains: [fields], defaultRail: "local:usdc", alarms: { command }, leaveMs: 500 };
  writeFileSync(config, JSON.stringify(changed, null, 2));
  await tributary(site, "serve", "--config", "my.json", "--check");
}

async function serve({ folder, environment }: Site): Promise<Service> {
  const port = await chooseFreePort();
  const child = spawn("node", ["bin/tributary.js", "serve", "--config", "my.json"], {
    cwd: folder,
    env: { ...environment, TRIBUTARY_PORT: String(port) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  closing.defer(() => void child.kill("SIGKILL"));
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (bytes: Buffer) => (output += String(bytes)));
  const url = `http://127.0.0.1:${port}`;
  await until(
    "the service is ready",
    () => isReady(url),
    () => output,
  );
  return { child, url, output: () => output };
}

async function isReady(url: string): Promise<boolean> {
  return (await fetch(`${url}/readyz`).catch(() => undefined))?.status === 200;
}

async function createMerchant(site: Site): Promise<string> {
  const wallet = `0x${"38".repeat(20)}`;
  const create = ["accounts", "create", "First shop", "--chain", "local", "--wallet", wallet];
  const { accountId } = JSON.parse(await tributary(site, ...create, "--config", "my.json", "--json")) as {
    accountId: string;
  };
  const key = await tributary(site, "keys", "create", accountId, "--config", "my.json", "--json");
  return (JSON.parse(key) as { apiKey: string }).apiKey;
}

/** Creates an intent, pays it, and waits until its payout has landed. Returns its id. */
async function pay({ chain }: Site, { url, output }: Service, apiKey: string): Promise<string> {
  const headers = { authorization: `Bearer ${apiKey}`, "service-version": VERSION, "content-type": "application/json" };
  const call = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(`${url}/api/v1/intents${path}`, { ...init, headers }).catch(() => undefined);
    return response?.ok === true ? ((await response.json()) as Record<string, unknown>) : undefined;
  };
  let created: Record<string, unknown> | undefined;
  const body = JSON.stringify({ priceUnits: Number(UNITS), oneTime: true });
  await until(
    "a create is answered",
    async () => (created = await call("", { method: "POST", body })) !== undefined,
    output,
  );
  await chain.pay(chain.usdc.address, created?.["inboxAddress"] as Hex, { amountUnits: UNITS });
  const isSettled = async () => {
    await chain.mine(1);
    return (await call(`/${String(created?.["intentId"])}`))?.["status"] === "settled";
  };
  await until("the payment is paid out", isSettled, output);
  return String(created?.["intentId"]);
}

async function raiseAlarm({ chain, alarmFile }: Site): Promise<void> {
  process.kill(chain.pid, "SIGSTOP");
  const hasCome = async () => existsSync(alarmFile) && readFileSync(alarmFile, "utf8").includes('"raised"');
  await until("the alarm arrives", hasCome).finally(() => process.kill(chain.pid, "SIGCONT"));
}

async function backUp({ pair }: Site, dump: string): Promise<void> {
  await run(join(programs(), "pg_dump"), ["--dbname", pair.urlOf("service"), "--file", dump]);
}

/** The copy is looked at and not served: its gas account is in use. */
async function restore(site: Site, { dump, intentId }: { dump: string; intentId: string }): Promise<void> {
  await createDatabaseOn(site.pair.primary, "restored", "empty");
  const url = site.pair.urlOf("restored");
  const options = ["--quiet", "--no-psqlrc", "--set", "ON_ERROR_STOP=1", "--single-transaction"];
  await run(join(programs(), "psql"), [...options, "--dbname", url, "--file", dump]);
  const copy = { ...site, environment: { ...site.environment, TRIBUTARY_DATABASE_URL: url } };
  const list = await tributary(copy, "intents", "list", "--config", "my.json", "--json");
  if (!list.includes(intentId)) throw new Error(`the restored database lacks ${intentId}`);
}

function programs(): string {
  const found = findDumpPrograms();
  if (found === undefined) throw new Error("install Debian's postgresql, which has pg_dump and psql");
  return found;
}

async function upgrade(site: Site, old: Service, apiKey: string): Promise<Service> {
  await tributary(site, "upgrade", "--check", "--config", "my.json");
  const next = await serve(site);
  await stop(old);
  await pay(site, next, apiKey);
  return next;
}

async function failOver(site: Site, service: Service, apiKey: string): Promise<void> {
  await site.pair.makeSynchronous();
  await site.pair.failOver();
  await until("the service is back", () => isReady(service.url), service.output);
  await pay(site, service, apiKey);
}

async function stop({ child, output }: Service): Promise<void> {
  child.kill("SIGTERM");
  if (child.exitCode === null) await once(child, "exit");
  if (child.exitCode !== 0) throw new Error(`the service ended with ${child.exitCode}: ${output().slice(-2_000)}`);
}

async function until(what: string, isTrue: () => Promise<boolean>, output = () => ""): Promise<void> {
  const startedMs = performance.now();
  while (!(await isTrue())) {
    if (performance.now() - startedMs > WAIT_MS_MAX)
      throw new Error(`waited in vain: ${what}\n${output().slice(-4_000)}`);
    await delay(100);
  }
}
