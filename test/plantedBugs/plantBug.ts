import process from "node:process";
import { installPatches } from "../sim/installPatches.ts";
import { plantedBugs } from "./plantedBugs.ts";

// Loaded before a test: plants the bug that the variable names.

const mutant = plantedBugs.find(({ name }) => name === process.env["TRIBUTARY_PLANTED_BUG"]);
if (mutant !== undefined) installPatches(mutant);
