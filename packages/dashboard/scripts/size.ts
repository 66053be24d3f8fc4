/** Compares the pages' files with their limits, as a browser downloads them: `npm run size`. */
import process from "node:process";
import { gzipSync } from "node:zlib";
import { buildPages } from "./buildPages.ts";

/** Compressed bytes of each script, of all scripts together, and of the style sheet. */
const LIMITS = [
  { name: "operator", files: ["ops.generated.js"], bytesMax: 12_288 },
  { name: "merchant", files: ["dashboard.generated.js"], bytesMax: 18_432 },
  {
    name: "all scripts",
    files: ["ops.generated.js", "keys.generated.js", "dashboard.generated.js"],
    bytesMax: 61_440,
  },
  { name: "style sheet", files: ["dashboard.generated.css"], bytesMax: 12_288 },
] as const;

const built = await buildPages();
for (const { name, files, bytesMax } of LIMITS) {
  const bytes = files.reduce((sum, file) => sum + gzipSync(built[file] ?? "", { level: 9 }).length, 0);
  console.log(`${name.padEnd(12)}${String(bytes).padStart(7)} of ${bytesMax} bytes (gzip)`);
  if (bytes > bytesMax) process.exitCode = 1;
}
