import process from "node:process";
import { openSlow, type Slow, type SlowOptions } from "./slow.ts";

// Slow callers in a process of their own, so that what they hold is not counted where the service's memory is measured.

export type Told = { open: number; ended: [status: number, count: number][] };

const TOLD_EVERY_MS = 100;

let slow: Slow | undefined;

process.on("message", (options: SlowOptions) => {
  slow = openSlow(options);
});
setInterval(() => {
  if (slow !== undefined) process.send?.({ open: slow.open(), ended: [...slow.ended] } satisfies Told);
}, TOLD_EVERY_MS);
process.on("disconnect", () => process.exit());
