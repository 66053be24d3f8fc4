import { parseArgs } from "node:util";
import { runFuzz } from "./runFuzz.ts";

// `npm run fuzz` sends malformed requests to the real server and checks each answer.

const { values } = parseArgs({
  options: {
    requests: { type: "string", default: "100000" },
    from: { type: "string", default: "0" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    help: { type: "boolean", short: "h", default: false },
  },
});

const USAGE = `npm run fuzz -- [--requests COUNT] [--seed NUMBER] [--from NUMBER]

A failure names its seed and number: --seed SEED --from NUMBER --requests 1 sends that request alone.`;
if (values.help) console.log(USAGE);
else await main({ requests: Number(values.requests), seed: Number(values.seed), from: Number(values.from) });
// Exits before node:test, which the test API imports, prints its empty summary.
process.exit();

async function main({ requests, seed, from }: { requests: number; seed: number; from: number }): Promise<void> {
  console.log(`${requests} requests, seed ${seed}${from === 0 ? "" : `, from number ${from}`}`);
  const startedMs = performance.now();
  const report = await runFuzz({
    requests,
    seed,
    from,
    onProgress: (done) => {
      const perS = done / ((performance.now() - startedMs) / 1_000);
      process.stderr.write(`\r${done} of ${requests}, ${perS.toFixed(0)} a second `);
    },
  });
  process.stderr.write("\n");
  const seconds = (performance.now() - startedMs) / 1_000;
  const sorted = <K extends string | number>(counts: Map<K, number>) =>
    [...counts]
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, times]) => `${key}: ${times}`)
      .join("  ");
  console.log(`by kind    ${sorted(report.byKind)}`);
  console.log(`by status  ${sorted(report.byStatus)}  (0: closed without an answer after an incomplete head)`);
  console.log(`compared   ${report.compared} accepted creates with their requests`);
  const mebibytes = (bytes: number) => (bytes / 1_048_576).toFixed(1);
  console.log(
    `held       ${mebibytes(report.heldBytesFirst)} MiB after a quarter, ${mebibytes(report.heldBytesLast)} MiB at the end`,
  );
  console.log(`${report.requests} requests in ${seconds.toFixed(0)} s, ${report.failures.length} wrong answers`);
  for (const failure of report.failures) console.log(failure);
  const hasGrown = report.heldBytesLast > report.heldBytesFirst * 1.25 + 8_388_608;
  if (hasGrown) console.log("memory has grown");
  process.exitCode = report.failures.length > 0 || hasGrown ? 1 : 0;
}
