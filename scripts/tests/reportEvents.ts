import type { TestEvent } from "node:test/reporters";
import { inspect } from "node:util";
import { cpuTimeMs } from "./cpuTime.ts";
import { zeroCounts, type Counts, type Failure, type TestReport } from "./results.ts";

const ERROR_LINES_MAX = 30;

type Finished = Extract<TestEvent, { type: "test:pass" | "test:fail" }>;

/** A reporter of node:test: one line of JSON at the end of each file's suite, and one at the end of the process. */
async function* reportEvents(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  let counts = zeroCounts();
  let failures: Failure[] = [];
  let reportedCpuMs = 0;
  for await (const event of events) {
    if (event.type === "test:summary") yield formatReport({ kind: "end", cpuMs: cpuTimeMs() });
    if (event.type !== "test:pass" && event.type !== "test:fail") continue;
    const { name, nesting, details } = event.data;
    const isFile = nesting === 0;
    if (!isFile) addTo(counts, event);
    if (event.type === "test:fail" && !failsBySubtests(event))
      failures.push({ name: isFile ? "the file itself" : name, error: formatError(event.data.details.error) });
    if (!isFile) continue;
    const totalCpuMs = cpuTimeMs();
    const cpuMs = totalCpuMs - reportedCpuMs;
    reportedCpuMs = totalCpuMs;
    yield formatReport({ kind: "file", file: name, durationMs: details.duration_ms, cpuMs, counts, failures });
    counts = zeroCounts();
    failures = [];
  }
}

function addTo(counts: Counts, { type, data }: Finished): void {
  if (data.details.type === "suite") {
    counts.suites += 1;
    return;
  }
  counts.tests += 1;
  if (data.skip !== undefined) counts.skipped += 1;
  else if (data.todo !== undefined) counts.todo += 1;
  else if (type === "test:pass") counts.pass += 1;
  else if (failureType(data) === "cancelledByParent") counts.cancelled += 1;
  else counts.fail += 1;
}

function failsBySubtests({ data }: Finished): boolean {
  return failureType(data) === "subtestsFailed";
}

function failureType({ details }: Finished["data"]): string | undefined {
  return "error" in details ? (details.error as { failureType?: string }).failureType : undefined;
}

/** The first lines of the error that a test threw, with the message and the nearest calls. */
function formatError(error: Error): string {
  return inspect(error.cause ?? error, { depth: 3 })
    .split("\n")
    .slice(0, ERROR_LINES_MAX)
    .join("\n");
}

function formatReport(report: TestReport): string {
  return `${JSON.stringify(report)}\n`;
}

// oxlint-disable-next-line import/no-default-export -- node:test takes a reporter as the default export
export default reportEvents;
