import { BENCHES } from "./benches.ts";

// npm run bench -- <name>. With `--small` the longer ones run at their smallest size.

const [name = ""] = process.argv.slice(2);
const bench = BENCHES[name];
if (bench === undefined) {
  console.error(`Usage: npm run bench -- <name>, where <name> is one of ${Object.keys(BENCHES).join(", ")}.`);
  process.exitCode = 2;
} else await bench();
