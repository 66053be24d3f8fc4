/** Compares the page's files with their limits, as a browser downloads them: `npm run size`. */
import process from "node:process";
import { gzipSync } from "node:zlib";
import { buildPage } from "./buildPage.ts";

/** Compressed bytes of the script with verification, wallets and codes, of its part for Solana, and of the style sheet. */
const LIMITS = [
  { name: "script", files: ["page.generated.js", "boot.generated.js"], bytesMax: 30_720 },
  { name: "Solana part", files: ["solana.generated.js"], bytesMax: 12_288 },
  { name: "style sheet", files: ["page.generated.css"], bytesMax: 8_192 },
] as const;

const built = await buildPage();
for (const { name, files, bytesMax } of LIMITS) {
  const bytes = files.reduce((sum, file) => sum + gzipSync(built[file] ?? "", { level: 9 }).length, 0);
  console.log(`${name.padEnd(12)}${String(bytes).padStart(7)} of ${bytesMax} bytes (gzip)`);
  if (bytes > bytesMax) process.exitCode = 1;
}
