import { measureGas } from "../../contracts/scripts/gas.ts";
import { ISSUER_GAS, ISSUER_GAS_PARTS_MAX } from "../../contracts/scripts/gasBridge.ts";
import { CALL_GAS } from "../../src/config/operate/usualCosts.ts";
import { listStrangerRatios, type StrangerRatio } from "../support/strangerRatios.ts";
import { tabulate } from "./detect/statistics.ts";

// Measures the gas of every call that a stranger's payment makes the operator send, and prints what a dollar of the
// stranger costs, with the minimums that `init` writes. Fails where that is a dollar or more.

export async function benchStrangers(): Promise<void> {
  const gas = await measureGas();
  const calls = [
    ["settle", gas.settleFirst, CALL_GAS.settle],
    ["burn", gas.burnFirst, CALL_GAS.burn],
    ["receive", gas.receiveFastFirst, CALL_GAS.receive],
  ] as const;
  for (const [call, measured, assumed] of calls) {
    console.log(`${call}: ${measured} gas now, ${assumed} assumed`);
    if (measured > Number(assumed) * ISSUER_GAS_PARTS_MAX) process.exitCode = 1;
  }
  console.log(`with the issuer's contracts: burn ${ISSUER_GAS.burnFirst}, receive ${ISSUER_GAS.receiveFastFirst}\n`);
  const ratios = listStrangerRatios();
  const row = ({ way, operatorUsd, strangerUsd, ratio }: StrangerRatio) => {
    return [way, `$${operatorUsd.toFixed(4)}`, `$${strangerUsd.toFixed(4)}`, ratio.toFixed(2)];
  };
  console.log(tabulate([["smallest payment", "operator", "stranger", "a dollar costs"], ...ratios.map(row)]));
  const highest = Math.max(...ratios.map(({ ratio }) => ratio));
  console.log(`\nhighest: ${highest.toFixed(2)}; goal: below 1`);
  if (highest >= 1) process.exitCode = 1;
}
