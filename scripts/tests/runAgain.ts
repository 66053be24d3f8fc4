import type { TestJob } from "./groups.ts";
import type { JobResult } from "./results.ts";

/** What counts at the end of a run, and the first results that a second try replaced by success. */
export type TestOutcome = { results: JobResult[]; overcome: JobResult[] };

/** More failed files than these are no accident, and run no second time. */
const FILES_MAX = 10;

/**
 * Runs each file with a failure once more, alone in its process. A test that passes then depends on the load or on its
 * neighbours: the run succeeds and tells the first error.
 */
export async function runAgain(
  first: readonly JobResult[],
  run: (job: TestJob) => Promise<JobResult[]>,
): Promise<TestOutcome> {
  const failed = first.filter(hasFailed);
  const outcome: TestOutcome = { results: first.filter((result) => !hasFailed(result)), overcome: [] };
  if (failed.flatMap(filesToRepeat).length > FILES_MAX) return { results: [...first], overcome: [] };
  for (const result of failed) {
    const repeated = filesToRepeat(result);
    const second: JobResult[] = [];
    for (const file of repeated) second.push(...(await run({ name: file, files: [file], preload: [], seconds: 0 })));
    const kept = result.files.filter(({ file }) => !repeated.includes(file));
    outcome.results.push({ ...result, files: kept, problems: [] }, ...second);
    if (!second.some(hasFailed)) outcome.overcome.push(result);
  }
  return outcome;
}

function hasFailed({ files, problems }: JobResult): boolean {
  return problems.length > 0 || files.some(({ failures }) => failures.length > 0);
}

/** The files with failures and those that did not run to their end, or all files when only their process failed. */
function filesToRepeat({ job, files }: JobResult): readonly string[] {
  const passed = new Set(files.filter(({ failures }) => failures.length === 0).map(({ file }) => file));
  const failed = job.files.filter((file) => !passed.has(file));
  return failed.length > 0 ? failed : job.files;
}
