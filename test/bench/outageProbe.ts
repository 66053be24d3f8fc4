import { writeFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";

// Preloaded into the service: measures how long computation blocks the event loop.

const path = process.env["OUTAGE_PROBE_FILE"];
const delays = monitorEventLoopDelay({ resolution: 1 });
delays.enable();
// Excludes the startup.
process.on("SIGUSR2", () => delays.reset());
process.once("exit", () => {
  if (path !== undefined) writeFileSync(path, JSON.stringify({ p99Ns: delays.percentile(99), maxNs: delays.max }));
});
