import process from "node:process";
import { openSlowClients, type SlowClients, type SlowClientOptions } from "./slowClients.ts";

// Slow clients in their own process, so that their memory does not count as the service's.

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
