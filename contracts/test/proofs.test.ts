import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import solc from "solc";
import { contractsDirectory } from "../scripts/forge.ts";

// The compiler's model checker, with the solver that comes with it: what it proves holds for every sum, not for samples.

type Finding = { readonly errorCode: string; readonly message: string };

const provedErrorCode = "2961";

/** What the model checker says about the proofs, after one of their lines was exchanged. */
async function runModelChecker(search: string, replace: string): Promise<Finding[]> {
  const proof = await readFile(join(contractsDirectory, "proofs/FeeProof.sol"), "utf8");
  const fee = await readFile(join(contractsDirectory, "src/Fee.sol"), "utf8");
  assert.ok(proof.includes(search));
  const input = {
    language: "Solidity",
    sources: { "proofs/FeeProof.sol": { content: proof.replace(search, replace) }, "src/Fee.sol": { content: fee } },
    settings: {
      modelChecker: {
        engine: "bmc",
        solvers: ["z3"],
        contracts: { "proofs/FeeProof.sol": ["FeeProof"] },
        targets: ["assert", "overflow", "underflow", "divByZero"],
        showProvedSafe: true,
        showUnproved: true,
      },
      outputSelection: { "*": { "*": ["abi"] } },
    },
  };
  return (JSON.parse(solc.compile(JSON.stringify(input))) as { errors: Finding[] }).errors;
}

test("fault 80: fee and net are the whole, something is left for the payout, and nothing overflows, for every sum", async () => {
  const findings = await runModelChecker("", "");
  const unproved = findings.filter(({ errorCode }) => errorCode !== provedErrorCode);
  assert.deepEqual(unproved, []);
  assert.ok(findings.length >= 14, `only ${findings.length} claims were looked at`);
});

test("a wrong claim is not proved", async () => {
  const findings = await runModelChecker("feeBps <= FEE_BPS_MAX && units > 0", "feeBps <= FEE_BPS_MAX");
  assert.ok(findings.some(({ message }) => message.startsWith("BMC: Assertion violation happens here")));
});
