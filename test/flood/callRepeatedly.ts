import { request } from "node:http";
import { systemClock } from "../../src/kernel/clock.ts";

/** Results of valid calls: latencies and failures. */
export type CallResults = { tookMs: number[]; failures: string[] };

const CALL_EVERY_MS = 50;
const CALL_MS_MAX = 10_000;

/** Calls at a fixed interval for the duration, each over a new connection, with the keys in turn. */
export async function callRepeatedly(
  durationMs: number,
  target: { url: string; apiKeys: readonly string[] },
): Promise<CallResults> {
  const results: CallResults = { tookMs: [], failures: [] };
  const calls: Promise<void>[] = [];
  const startedMs = performance.now();
  for (let count = 0; performance.now() - startedMs < durationMs; count += 1) {
    calls.push(callOnce(target.url, target.apiKeys[count % target.apiKeys.length] ?? "", results));
    await systemClock.sleep(CALL_EVERY_MS);
  }
  await Promise.all(calls);
  return results;
}

function callOnce(url: string, apiKey: string, results: CallResults): Promise<void> {
  const headers = { authorization: `Bearer ${apiKey}`, "service-version": "2026-11-01", connection: "close" };
  const startedMs = performance.now();
  return new Promise((resolve) => {
    const fail = (reason: string) => {
      results.failures.push(reason);
      resolve();
    };
    const call = request(`${url}/api/v1/intents`, { agent: false, headers, timeout: CALL_MS_MAX }, (answer) => {
      answer.resume().on("end", () => {
        if (answer.statusCode !== 200) return fail(`status ${answer.statusCode}`);
        results.tookMs.push(performance.now() - startedMs);
        resolve();
      });
    });
    call.on("timeout", () => call.destroy(new Error("no answer in time")));
    call.on("error", (error) => fail(error.message));
    call.end();
  });
}

/** Formats the median, the 99th percentile and the failures with their reasons. */
export function formatCallResults({ tookMs, failures }: CallResults): string {
  const sorted = tookMs.toSorted((one, other) => one - other);
  const at = (part: number) => (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0).toFixed(1);
  const reasons = [...new Set(failures)].slice(0, 3).join(", ");
  const failed = failures.length === 0 ? "none failed" : `${failures.length} failed (${reasons})`;
  return `${tookMs.length} calls, median ${at(0.5)} ms, p99 ${at(0.99)} ms, ${failed}`;
}
