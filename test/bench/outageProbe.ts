import { writeFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";

// Loaded into the service before itself: how long nothing could be answered, because something was being worked out.

const path = process.env["OUTAGE_PROBE_FILE"];
const delays = monitorEventLoopDelay({ resolution: 1 });
delays.enable();
// What its start takes is another figure.
process.on("SIGUSR2", () => delays.reset());
process.once("exit", () => {
  if (path !== undefined) writeFileSync(path, JSON.stringify({ p99Ns: delays.percentile(99), maxNs: delays.max }));
});
