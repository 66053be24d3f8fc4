import { fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { openDatabase } from "../../src/db/database.ts";
import { migrate } from "../../src/db/migrate.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { addMerchant } from "../support/merchants.ts";
import { startPostgres } from "../support/postgres.ts";
import { openInstallation, UNREACHABLE_CHAIN } from "../support/serviceInstallation.ts";
import type { SlowClientReport } from "./slowClientProcess.ts";
import { callRepeatedly, formatCallResults } from "./callRepeatedly.ts";
import { guessKeys } from "./guessKeys.ts";
import type { SlowAttack, SlowClientOptions } from "./slowClients.ts";

// `npm run flood` attacks the service with many clients and measures valid calls at the same time.

const USAGE = `npm run flood -- slow|keys [options]

slow   thousands of connections that send almost nothing
  --connections N   5000
  --seconds N       30, for each kind
  --only KIND       head, body or idle
  --through URL     connect here instead of to the service, such as to a proxy
keys   wrong keys, each from another address
  --requests N      1000000
both
  --port N          the service's port, 8787`;

const SLOW_ATTACKS = ["head", "body", "idle"] as const;
const BASELINE_MS = 5_000;
const UNDER_LOAD_MS = 20_000;
const MERCHANTS = 40;
const DESCRIPTORS_RESERVED = 300;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    connections: { type: "string", default: "5000" },
    seconds: { type: "string", default: "30" },
    requests: { type: "string", default: "1000000" },
    port: { type: "string", default: "8787" },
    only: { type: "string" },
    through: { type: "string" },
    help: { type: "boolean", short: "h", default: false },
  },
});
const [mode] = positionals;
if (values.help || (mode !== "slow" && mode !== "keys")) console.log(USAGE);
else if (mode === "slow" && lacksDescriptors(Number(values.connections))) process.exitCode = 1;
else await main(mode);

async function main(attack: "slow" | "keys"): Promise<void> {
  const server = await startPostgres(undefined, { isDurable: true });
  const databaseUrl = server.urlOf("postgres");
  const db = await openDatabase({ url: databaseUrl });
  await migrate(db, { appliedAt: systemClock.now() });
  const port = Number(values.port);
  // A local proxy may send X-Forwarded-For.
  const config = { trustedProxies: ["127.0.0.1"] };
  const site = await openInstallation({ chain: UNREACHABLE_CHAIN, databaseUrl, port, pollMs: 60_000, config });
  const service = await site.start();
  try {
    const merchants = Array.from({ length: MERCHANTS }, () =>
      addMerchant(db, { chainReference: String(UNREACHABLE_CHAIN.chainId) }),
    );
    const apiKeys = (await Promise.all(merchants)).map(({ apiKey }) => apiKey);
    const target = { url: values.through ?? site.baseUrl, apiKeys };
    console.log(`quiet: ${formatCallResults(await callRepeatedly(BASELINE_MS, target))}; ${formatMemory(service.pid)}`);
    if (attack === "keys") {
      const guessing = guessKeys({
        port,
        requests: Number(values.requests),
        db,
        formatMemory: () => formatMemory(service.pid),
      });
      console.log(`beside guesses: ${formatCallResults(await callRepeatedly(UNDER_LOAD_MS, target))}`);
      await guessing;
      console.log(
        `afterwards: ${formatCallResults(await callRepeatedly(BASELINE_MS, target))}; ${formatMemory(service.pid)}`,
      );
    } else {
      for (const slowAttack of SLOW_ATTACKS.filter((one) => values.only === undefined || values.only === one))
        await runSlowAttack(slowAttack, target, service.pid);
    }
  } finally {
    await service.stop();
    await db.close();
    await Promise.all([site.remove(), server.remove()]);
  }
}

async function runSlowAttack(
  attack: SlowAttack,
  target: { url: string; apiKeys: string[] },
  pid: number,
): Promise<void> {
  const { hostname, port } = new URL(target.url);
  const attacker = fork(new URL("slowClientProcess.ts", import.meta.url));
  let report: SlowClientReport = { open: 0, ended: [] };
  let openMax = 0;
  attacker.on("message", (message: SlowClientReport) => {
    report = message;
    openMax = Math.max(openMax, message.open);
  });
  const connections = Number(values.connections);
  const options: SlowClientOptions = {
    host: hostname,
    port: Number(port),
    connections,
    attack,
    intervalMs: 1_000,
    reconnects: true,
  };
  attacker.send(options);
  const results = await callRepeatedly(Number(values.seconds) * 1_000, target);
  console.log(`${connections} slow (${attack}): ${formatCallResults(results)}; ${formatMemory(pid)}`);
  const ended = report.ended.map(([status, count]) => `${count} with ${status === 0 ? "nothing" : status}`).join(", ");
  console.log(`  up to ${openMax} open at once; closed by the server: ${ended || "none"}`);
  attacker.disconnect();
  await once(attacker, "exit");
}

/** Each connection takes a descriptor in this process; the service inherits this shell's limit. */
function lacksDescriptors(connections: number): boolean {
  const soft = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
  const needed = connections + DESCRIPTORS_RESERVED;
  if (soft === undefined || Number(soft) >= needed) return false;
  console.error(
    `This shell allows ${soft} open files and ${connections} connections need ${needed}: ulimit -n ${needed}`,
  );
  return true;
}

function formatMemory(pid: number): string {
  const kibibytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return `the service holds ${(Number(kibibytes) / 1_024).toFixed(0)} MiB`;
}
