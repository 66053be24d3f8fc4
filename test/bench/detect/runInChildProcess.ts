import { fork } from "node:child_process";
import { once } from "node:events";

/** Hands `order` to a script in a process that did nothing before, and resolves with what it reports. Rejects when it ends without. */
export async function runInChildProcess<Report>(script: string, order: object): Promise<Report> {
  const execArgv = ["--no-warnings", "--expose-gc"];
  const child = fork(new URL(script, import.meta.url), { execArgv, serialization: "advanced" });
  const ended = once(child, "exit").then(([code]) => {
    throw new Error(`${script} ended with ${code}`);
  });
  child.send(order);
  const [report] = (await Promise.race([once(child, "message"), ended])) as [Report];
  await ended.catch(() => undefined);
  return report;
}

/** The other side: takes the order, and ends when its report was taken. */
export function serveParent<Order extends object>(work: (order: Order) => Promise<object> | object): void {
  process.once("message", (order: Order) => {
    void Promise.resolve(work(order)).then((report) => process.send?.(report, () => process.disconnect()));
  });
}
