/** Compares the page's files with their limits, as a browser downloads them: `npm run size`. */
import { readFile } from "node:fs/promises";
import process from "node:process";
import { gzipSync } from "node:zlib";
import { buildPage } from "./buildPage.ts";

/**
 * Compressed bytes of the script with verification, wallets and codes, of its part for Solana, of the style sheet, and
 * of the marks.
 */
const LIMITS = [
  { name: "script", files: ["page.generated.js", "boot.generated.js"], bytesMax: 30_720 },
  { name: "Solana part", files: ["solana.generated.js"], bytesMax: 12_288 },
  { name: "style sheet", files: ["page.generated.css"], bytesMax: 8_192 },
  { name: "marks", files: ["marks.svg"], bytesMax: 6_144 },
] as const;

const marks = await readFile(new URL("../marks.svg", import.meta.url));
const files: Readonly<Record<string, string | Buffer>> = { ...(await buildPage()), "marks.svg": marks };
for (const { name, files: names, bytesMax } of LIMITS) {
  const bytes = names.reduce((sum, file) => sum + gzipSync(files[file] ?? "", { level: 9 }).length, 0);
  console.log(`${name.padEnd(12)}${String(bytes).padStart(7)} of ${bytesMax} bytes (gzip)`);
  if (bytes > bytesMax) process.exitCode = 1;
}
