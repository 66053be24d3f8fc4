import { parseArgs } from "node:util";
import { fuzz } from "./run.ts";

// `npm run fuzz`: malformed requests by the hundred thousand against the real server, each answer judged.

const { values } = parseArgs({
  options: {
    requests: { type: "string", default: "100000" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    help: { type: "boolean", short: "h", default: false },
  },
});

if (values.help) console.log("npm run fuzz -- [--requests COUNT] [--seed NUMBER]");
else await main(Number(values.requests), Number(values.seed));
// The API under test brings the test runner's own summary with it, which has nothing to say here.
process.exit();

async function main(requests: number, seed: number): Promise<void> {
  console.log(`${requests} requests, seed ${seed}`);
  const startedMs = performance.now();
  const report = await fuzz({
    requests,
    seed,
    onProgress: (done) => process.stderr.write(`\r${done} of ${requests}`),
  });
  process.stderr.write("\r");
  const seconds = (performance.now() - startedMs) / 1_000;
  const sorted = <K extends string | number>(counts: Map<K, number>) =>
    [...counts]
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, times]) => `${key}: ${times}`)
      .join("  ");
  console.log(`by kind    ${sorted(report.byKind)}`);
  console.log(`by status  ${sorted(report.byStatus)}  (0: a head that was cut short, closed without an answer)`);
  const mebibytes = (bytes: number) => (bytes / 1_048_576).toFixed(1);
  console.log(
    `heap       ${mebibytes(report.heapBytesFirst)} MiB after a quarter, ${mebibytes(report.heapBytesLast)} MiB at the end`,
  );
  console.log(
    `${report.requests} requests in ${seconds.toFixed(0)} s, ${report.failures.length} answers that must not be`,
  );
  for (const failure of report.failures) console.log(failure);
  const hasGrown = report.heapBytesLast > report.heapBytesFirst * 1.25 + 8_388_608;
  if (hasGrown) console.log("memory has grown");
  process.exitCode = report.failures.length > 0 || hasGrown ? 1 : 0;
}
