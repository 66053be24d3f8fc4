/** Compares the served scripts with their limit, as a browser downloads them: `npm run size`. */
import process from "node:process";
import { gzipSync } from "node:zlib";
import { buildSdk } from "./buildSdk.ts";

const BYTES_MAX = 3_072;

for (const [name, content] of Object.entries(await buildSdk())) {
  const bytes = gzipSync(content, { level: 9 }).length;
  console.log(`${name.padEnd(26)}${String(bytes).padStart(7)} of ${BYTES_MAX} bytes (gzip)`);
  if (bytes > BYTES_MAX) process.exitCode = 1;
}
