/**
 * Runs the published hub and the issuer's token code on an EVM of another author, under the rules of today and of the
 * next fork: npm ci --ignore-scripts --prefix scripts/forks && npm run forks. Exits with 1 when a unit is stolen, or
 * when the service's estimate of a first settlement is more than 1.3 times off.
 */
import process from "node:process";
import { formatTable } from "../../src/cli/formatTable.ts";
import type { Fork } from "./evm.ts";
import { runLimits } from "./limits.ts";
import { measureFork, type Figures } from "./measure.ts";
import { runThief } from "./thief.ts";

const ALL_FORKS: readonly Fork[] = ["osaka", "amsterdam"];
/** All of them, or those that are named. */
const FORKS = ALL_FORKS.filter((fork) => process.argv.length < 3 || process.argv.includes(fork));
const ATTEMPTS = 200;
const LIMITS = { from: 40_000n, to: 640_000n, step: 8_000n };
/** In hundredths. */
const ESTIMATE_RATIO_MAX = 130n;

const figures: Figures[] = [];
for (const fork of FORKS) figures.push(await measureFork(fork));
const rows = Object.keys(figures[0] ?? {}).map((name) => {
  const values = figures.map((each) => each[name] ?? 0n);
  const [today = 0n, next] = values;
  const ratio = next === undefined || today === 0n ? "" : (Number((next * 100n) / today) / 100).toFixed(2);
  return [name, ...values.map((value) => value.toLocaleString("en")), ratio];
});
for (const line of formatTable([["gas", ...FORKS, "ratio"], ...rows])) console.log(line);

let failed = false;
for (const [index, fork] of FORKS.entries()) {
  const estimate = figures[index]?.["what the service estimates for a first settlement"] ?? 0n;
  const used = figures[index]?.["first settlement of an inbox"] ?? 1n;
  const [more, less] = estimate > used ? [estimate, used] : [used, estimate];
  const isOff = more * 100n > less * ESTIMATE_RATIO_MAX;
  const thief = await runThief(fork, ATTEMPTS);
  const limits = await runLimits(fork, LIMITS);
  console.log("");
  console.log(
    `${fork}: ${thief.stolenUnits} units stolen in ${thief.attempts} calls of a stranger, ${thief.settled} of which settled the inbox for its owner`,
  );
  console.log(
    `${fork}: ${limits.wrong} wrong outcomes at ${limits.limits} gas limits; a first settlement succeeds from ${limits.lowest.toLocaleString("en")} on`,
  );
  console.log(`${fork}: the estimate is ${(Number((estimate * 100n) / used) / 100).toFixed(2)} times what is used`);
  failed ||= thief.stolenUnits !== 0n || thief.settled === 0 || limits.wrong !== 0n || isOff;
}
if (failed) {
  console.error("Failed: a unit was stolen, a limit had a wrong outcome, or the estimate is off.");
  process.exitCode = 1;
}
