import { request } from "node:http";
import { systemClock } from "../../src/kernel/clock.ts";

/** How ordinary calls fare: how long each took, and what came instead of an answer. */
export type CallResults = { tookMs: number[]; failures: string[] };

const CALL_EVERY_MS = 50;
const CALL_MS_MAX = 10_000;

/** Calls again and again for so long, each time over a connection of its own, with one key after the other. */
export async function callRepeatedly(
  durationMs: number,
  of: { url: string; apiKeys: readonly string[] },
): Promise<CallResults> {
  const fared: CallResults = { tookMs: [], failures: [] };
  const calls: Promise<void>[] = [];
  const startedMs = performance.now();
  for (let count = 0; performance.now() - startedMs < durationMs; count += 1) {
    calls.push(callOnce(of.url, of.apiKeys[count % of.apiKeys.length] ?? "", fared));
    await systemClock.sleep(CALL_EVERY_MS);
  }
  await Promise.all(calls);
  return fared;
}

function callOnce(url: string, apiKey: string, fared: CallResults): Promise<void> {
  const headers = { authorization: `Bearer ${apiKey}`, "service-version": "2026-11-01", connection: "close" };
  const startedMs = performance.now();
  return new Promise((resolve) => {
    const failed = (what: string) => {
      fared.failures.push(what);
      resolve();
    };
    const call = request(`${url}/api/v1/intents`, { agent: false, headers, timeout: CALL_MS_MAX }, (answer) => {
      answer.resume().on("end", () => {
        if (answer.statusCode !== 200) return failed(`status ${answer.statusCode}`);
        fared.tookMs.push(performance.now() - startedMs);
        resolve();
      });
    });
    call.on("timeout", () => call.destroy(new Error("no answer in time")));
    call.on("error", (error) => failed(error.message));
    call.end();
  });
}

/** The middle and the slowest hundredth, and how many came to nothing and why. */
export function formatCallResults({ tookMs, failures }: CallResults): string {
  const sorted = tookMs.toSorted((one, other) => one - other);
  const at = (part: number) => (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0).toFixed(1);
  const why = [...new Set(failures)].slice(0, 3).join(", ");
  const failed = failures.length === 0 ? "none failed" : `${failures.length} failed (${why})`;
  return `${tookMs.length} calls, median ${at(0.5)} ms, p99 ${at(0.99)} ms, ${failed}`;
}
