#!/usr/bin/env node
// Forge wants a compiler it can call; npm has solc as a JavaScript library. This joins the two, so that the same
// bytes come out on every machine and nothing is downloaded while building.
import { readFileSync } from "node:fs";
import solc from "solc";

const [mode] = process.argv.slice(2);
if (mode === "--version") {
  process.stdout.write(`solc, the solidity compiler commandline interface\nVersion: ${solc.version()}\n`);
} else if (process.argv.includes("--standard-json")) {
  process.stdout.write(solc.compile(readFileSync(0, "utf8")));
} else {
  process.stderr.write("solc.js understands --version and --standard-json\n");
  process.exitCode = 2;
}
