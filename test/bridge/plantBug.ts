import process from "node:process";
import { installPatches } from "../sim/installPatches.ts";
import { bridgeMutants } from "./mutants.ts";

// Loaded before a test: plants the bug that the variable names.

const mutant = bridgeMutants.find(({ name }) => name === process.env["TRIBUTARY_PLANTED_BUG"]);
if (mutant !== undefined) installPatches(mutant);
