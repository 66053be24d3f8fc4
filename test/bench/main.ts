import { benchBackfill } from "./backfill.ts";
import { benchDetect } from "./detect.ts";
import { benchGas } from "./gas.ts";
import { benchHttp } from "./http.ts";
import { benchRoad } from "./road.ts";
import { benchTiming } from "./timing.ts";

// npm run bench -- <name>: every figure is taken beside what it is compared with, in the same run.

const benches: Readonly<Record<string, () => Promise<void>>> = {
  backfill: benchBackfill,
  detect: benchDetect,
  gas: benchGas,
  http: benchHttp,
  road: benchRoad,
  timing: benchTiming,
};

const [name = ""] = process.argv.slice(2);
const bench = benches[name];
if (bench === undefined) {
  console.error(`Usage: npm run bench -- <name>, where <name> is one of ${Object.keys(benches).join(", ")}.`);
  process.exitCode = 2;
} else await bench();
