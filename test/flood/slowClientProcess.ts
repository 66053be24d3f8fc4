import process from "node:process";
import { openSlowClients, type SlowClients, type SlowClientOptions } from "./slowClients.ts";

// Slow callers in a process of their own, so that what they hold is not counted where the service's memory is measured.

export type SlowClientReport = { open: number; ended: [status: number, count: number][] };

const REPORT_INTERVAL_MS = 100;

let clients: SlowClients | undefined;

process.on("message", (options: SlowClientOptions) => {
  clients = openSlowClients(options);
});
setInterval(() => {
  if (clients !== undefined)
    process.send?.({ open: clients.open(), ended: [...clients.ended] } satisfies SlowClientReport);
}, REPORT_INTERVAL_MS);
process.on("disconnect", () => process.exit());
