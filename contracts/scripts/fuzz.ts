import { runForge } from "./forge.ts";

// Runs every fuzz test ten thousand times, and the invariants over long sequences, with the profile "deep" of
// foundry.toml: npm run fuzz:contracts [options of forge test].

process.env["FOUNDRY_PROFILE"] = "deep";
const { exitCode, output } = await runForge(["test", ...process.argv.slice(2)]);
console.log(output);
process.exitCode = exitCode;
