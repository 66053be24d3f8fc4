import { once } from "node:events";

// What a process keeps: its living memory after a full collection, by its inspector. Resident memory also has what the
// collector has not returned, which varies by tens of megabytes.

export type MemoryGauge = { livingMb(): Promise<number>; close(): void };

/** For NODE_OPTIONS of the measured process. */
export const INSPECTED = "--inspect=127.0.0.1:0";
const BYTES_PER_MB = 1_048_576;
/** A collection frees what the one before it left to finalizers. */
const COLLECTIONS = 3;
const LIVING_BYTES = "(({ heapUsed, external }) => heapUsed + external)(process.memoryUsage())";

/** `output`: of a process that runs with INSPECTED, once it is ready. */
export async function openMemoryGauge(output: string): Promise<MemoryGauge> {
  const [url] = /ws:\/\/\S+/.exec(output) ?? [];
  if (url === undefined) throw new Error("the process has no inspector");
  const socket = new WebSocket(url);
  await once(socket, "open");
  let last = 0;
  const call = async (method: string, params: object = {}): Promise<unknown> => {
    const id = (last += 1);
    socket.send(JSON.stringify({ id, method, params }));
    for (;;) {
      const [event] = (await once(socket, "message")) as [MessageEvent<string>];
      const answer = JSON.parse(event.data) as { id?: number; result?: unknown };
      if (answer.id === id) return answer.result;
    }
  };
  await call("HeapProfiler.enable");
  return {
    livingMb: async () => {
      for (let times = 0; times < COLLECTIONS; times += 1) await call("HeapProfiler.collectGarbage");
      const answer = (await call("Runtime.evaluate", { expression: LIVING_BYTES })) as { result: { value: number } };
      return answer.result.value / BYTES_PER_MB;
    },
    close: () => socket.close(),
  };
}
