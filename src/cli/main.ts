import process from "node:process";
import { readEnvironment } from "../config/config.ts";
import { runCli } from "./runCli.ts";

process.exitCode = await runCli(process.argv.slice(2), {
  out: process.stdout,
  error: process.stderr,
  environment: readEnvironment(),
});
