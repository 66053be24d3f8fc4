import { parseArgs } from "node:util";
import { findPatroni } from "../support/patroniPair.ts";
import { runCrashes } from "./runCrashes.ts";
import { runKills, type KillReport } from "./runKills.ts";
import { runPauses, type PauseReport } from "./runPauses.ts";
import { isSoundUpgrade, runUpgrade } from "./runUpgrade.ts";
import { runSolanaKills } from "./runSolanaKills.ts";
import { isSoundSwitchover, runSwitchover } from "./runSwitchover.ts";
import { isSoundPair, runProcessPair, type ProcessPairReport } from "./runProcessPairs.ts";

const USAGE = `Usage: npm run chaos -- [kill|solana|pair|crash|pause|switchover|patroni|upgrade] [--kills=100] [--runs=1] [--seed=N]

  kill   kills the real service repeatedly under load, then compares the chain with the database
  solana kills the real service repeatedly while payments on a local Solana settle, then compares the wallets with the database
  pair   kills two services that share a database under load and reorgs, stops one, and waits until the other one has settled everything
  crash  ends a process before and after every step of the road, on both databases, and pauses one before each step; takes 15 minutes
  switchover  the database switches to its standby under load
  patroni  kills a primary that Patroni, etcd and HAProxy replace; needs Debian's postgresql, patroni, etcd-server and haproxy
  upgrade  a new version starts beside the old one under load and takes over; --from names the folder of the old one
  pause  pauses one of two services that share a database for longer than any timeout, then resumes it

  --from   folder of the version that runs before the upgrade
  --if-installed  ends with 0 where the programs of patroni are missing
  --kills  number of kills, in each run
  --runs   number of runs of pair, each with a new database and chain and the next seed
  --seed   repeats a run's random choices`;

const REORG_ONCE_IN = 40;
/** A pair runs for seconds only, so its reorgs come sooner. */
const PAIR_REORG_ONCE_IN = 6;
/** The database ends a transaction that is idle for 30 seconds. */
const PAUSES = { pauses: 10, pauseMsMin: 2_000, pauseMsMax: 40_000 };
const SWITCHOVER_LOAD_MS = 10_000;
const UPGRADE_LOAD_MS = 5_000;
/** Printed findings; more would hide the first ones. */
const FINDINGS_MAX = 30;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    kills: { type: "string", default: "100" },
    runs: { type: "string", default: "1" },
    seed: { type: "string" },
    from: { type: "string" },
    "if-installed": { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  console.log(USAGE);
  process.exit(0);
}
const [kind = "kill"] = positionals;
const seed = Number(values.seed ?? Date.now() % 1_000_000);
console.log(`seed ${seed}`);
if (kind === "kill")
  process.exitCode = printKillReport(
    await runKills({ kills: Number(values.kills), reorgOnceIn: REORG_ONCE_IN, seed, log: console.log }),
  );
else if (kind === "solana") process.exitCode = await printSolanaKills(Number(values.kills));
else if (kind === "pair") process.exitCode = await runPairs(Number(values.runs));
else if (kind === "crash") process.exitCode = await runCrashes(seed, console.log);
else if (kind === "pause") process.exitCode = printPauseReport(await runPauses({ ...PAUSES, seed, log: console.log }));
else if (kind === "switchover") process.exitCode = await printSwitchover();
else if (kind === "patroni") process.exitCode = await printPatroni();
else if (kind === "upgrade") process.exitCode = await printUpgrade();
else throw new Error(`unknown mode ${kind}: use kill, solana, pair, crash, pause, switchover, patroni or upgrade`);

async function printPatroni(): Promise<number> {
  if (!values["if-installed"] || findPatroni() !== undefined)
    return printSwitchover({ isKilled: true, isPatroni: true });
  console.log("left out: Debian's postgresql, patroni, etcd-server or haproxy is not installed");
  return 0;
}

/** Returns 0 when no request failed and nothing is lost or duplicated. */
async function printUpgrade(): Promise<number> {
  const from = values.from === undefined ? {} : { from: values.from };
  const report = await runUpgrade({ seed, loadMs: UPGRADE_LOAD_MS, ...from });
  const { lost, duplicated, ledger, refused } = report;
  console.log(
    `${report.requests} creates sent, ${report.failed} failed, ${report.payments} payments, applied ${report.check.migrations.join(", ")}: ` +
      `${lost.length} lost, ${duplicated.length} doubled, ${ledger.length} ledger findings, ${report.unsettled} not settled, ` +
      `exit codes ${report.exitCodes.join(" and ")}`,
  );
  for (const finding of [...lost, ...duplicated, ...ledger, ...refused].slice(0, FINDINGS_MAX)) console.log(finding);
  if (isSoundUpgrade(report)) return 0;
  console.log(report.output);
  return 1;
}

/** Returns 0 when the service returned by itself and nothing is lost or duplicated. */
async function printSwitchover(servers: { isKilled?: boolean; isPatroni?: boolean } = {}): Promise<number> {
  const report = await runSwitchover({ seed, loadMs: SWITCHOVER_LOAD_MS, ...servers });
  const { lost, duplicated, ledger } = report;
  console.log(
    `${report.acknowledged} creates acknowledged, ${report.acknowledgedAfter} of them after, ${report.payments} payments: ` +
      `ready after ${report.readyMs} ms, the next create after ${report.createMs} ms, ${lost.length} lost, ${duplicated.length} doubled, ` +
      `${ledger.length} ledger findings, ${report.unsettled} not settled`,
  );
  for (const finding of [...lost, ...duplicated, ...ledger].slice(0, FINDINGS_MAX)) console.log(finding);
  if (isSoundSwitchover(report)) return 0;
  console.log(report.output);
  return 1;
}

/** Prints the table; returns 0 when nothing is lost or duplicated. */
function printKillReport(report: KillReport): number {
  const { lost, duplicated, ledger, refused, unsettled, exitCode } = report;
  const rows: [string, unknown][] = [
    ["kills", report.kills],
    ["kills before the service was ready", report.startsKilled],
    ["creates acknowledged", report.acknowledged],
    ["creates repeated", report.unanswered],
    ["payments", report.payments],
    ["reorganisations", report.reorgs],
    ["settlements landed", report.settlements],
    ["lost", lost.length],
    ["doubled", duplicated.length],
    ["ledger findings", ledger.length],
    ["creates refused", refused.length],
    ["intents not settled", unsettled],
    ["exit code of the last service", exitCode],
  ];
  for (const [name, value] of rows) console.log(`${name.padEnd(40)}${String(value).padStart(8)}`);
  for (const finding of [...lost, ...duplicated, ...ledger, ...refused].slice(0, FINDINGS_MAX)) console.log(finding);
  const isSound = [lost, duplicated, ledger, refused].every((findings) => findings.length === 0);
  if (unsettled > 0 || exitCode !== 0) console.log(report.output);
  return isSound && unsettled === 0 && exitCode === 0 ? 0 : 1;
}

/** Returns 0 when every payment was settled exactly once. */
async function printSolanaKills(kills: number): Promise<number> {
  const { payments, settlements, findings, exitCode, output } = await runSolanaKills({ kills, seed });
  console.log(
    `${kills} kills, ${payments} payments, ${settlements} settlements: ${findings.length} findings, exit code ${exitCode}`,
  );
  for (const finding of findings.slice(0, FINDINGS_MAX)) console.log(finding);
  if (findings.length === 0 && exitCode === 0) return 0;
  console.log(output);
  return 1;
}

/** Returns 0 when no run lost, repeated or left anything. */
async function runPairs(runs: number): Promise<number> {
  let unsound = 0;
  for (let run = 0; run < runs; run += 1) {
    const report = await runProcessPair({
      kills: Number(values.kills),
      seed: seed + run,
      reorgOnceIn: PAIR_REORG_ONCE_IN,
    });
    printPairReport(seed + run, report);
    if (!isSoundPair(report)) unsound += 1;
  }
  console.log(`${runs} runs of two processes, ${unsound} unsound`);
  return unsound === 0 ? 0 : 1;
}

function printPairReport(runSeed: number, report: ProcessPairReport): void {
  const { lost, duplicated, ledger, exitCodes } = report;
  console.log(
    `seed ${runSeed}: ${report.kills} kills, ${report.reorgs} reorgs, ${report.acknowledged} creates acknowledged, ` +
      `${report.payments} payments, ${report.settlements} settlements: ${lost.length} lost, ${duplicated.length} doubled, ` +
      `${ledger.length} ledger findings, ${report.unsettled} not settled, ${report.unrecordedBlocks} blocks not recorded, ` +
      `exit codes ${exitCodes.join(" and ")}`,
  );
  for (const finding of [...lost, ...duplicated, ...ledger].slice(0, FINDINGS_MAX)) console.log(finding);
  if (!isSoundPair(report)) console.log(report.output);
}

function printPauseReport(report: PauseReport): number {
  const { lost, duplicated, ledger, exitCodes } = report;
  console.log(
    `${report.pauses} pauses, ${report.acknowledged} creates acknowledged, ${report.payments} payments: ${lost.length} lost, ` +
      `${duplicated.length} doubled, ${ledger.length} ledger findings, ${report.unsettled} not settled`,
  );
  for (const finding of [...lost, ...duplicated, ...ledger].slice(0, FINDINGS_MAX)) console.log(finding);
  const isSound = [lost, duplicated, ledger].every((findings) => findings.length === 0);
  return isSound && report.unsettled === 0 && exitCodes.every((code) => code === 0) ? 0 : 1;
}
