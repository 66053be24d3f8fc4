import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import solc from "solc";
import { contractsDirectory } from "../scripts/forge.ts";
import { runUnlessPassed } from "../scripts/passed.ts";

// The compiler's model checker with its bundled solver proves properties for every amount, not for samples.

type Finding = { readonly errorCode: string; readonly message: string };

const provedErrorCode = "2961";

/** Runs the model checker on the proofs with one text replaced. */
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

test("for every amount fee and net add up, a positive amount leaves a payout, and nothing overflows", async (t) => {
  const outcome = await runUnlessPassed("proofs", async () => {
    const findings = await runModelChecker("", "");
    const unproved = findings.filter(({ errorCode }) => errorCode !== provedErrorCode);
    assert.deepEqual(unproved, []);
    assert.ok(findings.length >= 20, `only ${findings.length} claims were checked`);
    await assertRefutesFalseClaim();
  });
  t.diagnostic(`model checker: ${outcome}`);
});

async function assertRefutesFalseClaim(): Promise<void> {
  const findings = await runModelChecker("feeBps <= FEE_BPS_MAX && units > 0", "feeBps <= FEE_BPS_MAX");
  assert.ok(findings.some(({ message }) => message.startsWith("BMC: Assertion violation happens here")));
}
