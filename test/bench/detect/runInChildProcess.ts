import { fork } from "node:child_process";
import { once } from "node:events";

/**
 * Runs a script in a fresh process with `job` and resolves with its report; rejects when the process ends without one.
 */
export async function runInChildProcess<Report>(script: string, job: object): Promise<Report> {
  const execArgv = ["--no-warnings", "--expose-gc"];
  const child = fork(new URL(script, import.meta.url), { execArgv, serialization: "advanced" });
  const ended = once(child, "exit").then(([code]) => {
    throw new Error(`${script} ended with ${code}`);
  });
  child.send(job);
  const [report] = (await Promise.race([once(child, "message"), ended])) as [Report];
  await ended.catch(() => undefined);
  return report;
}

/** The child's side: receives the job, sends the report and disconnects. */
export function serveParent<Job extends object>(work: (job: Job) => Promise<object> | object): void {
  process.once("message", (job: Job) => {
    void Promise.resolve(work(job)).then((report) => process.send?.(report, () => process.disconnect()));
  });
}
