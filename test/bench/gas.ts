import { cpus } from "node:os";
import process from "node:process";
import { measureGas } from "../../contracts/scripts/gas.ts";
import { ISSUER_GAS, ISSUER_GAS_PARTS_MAX } from "../../contracts/scripts/gasBridge.ts";

// Prints the gas of settling beside the gas floor and beside a wallet per deposit. Gas does not depend on
// the machine, so the figures are the same everywhere.

export async function benchGas(): Promise<void> {
  console.log(`gas on Circle's own token, ${cpus().length} cores, Node ${process.version}`);
  const gas = await measureGas();
  print("one inbox", gas.floor, [
    ["floor: 21,000 and two transfers", gas.floor],
    ["settle, first", gas.settleFirst],
    ["settle, repeat", gas.settleRepeat],
    ["wallet: gas top-up and two transfers", gas.walletRepeat],
  ]);
  print("each of a hundred inboxes", gas.batchFloor, [
    ["floor: two hundred transfers in one transaction", gas.batchFloor],
    ["settleNetted, first", gas.nettedFirst],
    ["settleNetted, repeat", gas.nettedRepeat],
    ["settleNetted, empty", gas.nettedEmpty],
    ["settleMany, first", gas.manyFirst],
    ["settleMany, one payout blocked", gas.manyOneBlocked],
    ["settleMany, repeat", gas.manyRepeat],
    ["settleMany, empty", gas.manyEmpty],
    ["wallet: gas top-up and two transfers", gas.walletRepeat],
  ]);
  printBridge(gas);
}

type BridgeCall = keyof typeof ISSUER_GAS;

function printBridge(gas: Readonly<Record<BridgeCall | "relayStandard" | "relayFast", number>>): void {
  console.log(
    "\nacross a bridge, with doubles of the issuer's contracts: the second column was measured with its own code",
  );
  console.log(`${"".padEnd(50)} ${"double".padStart(8)} ${"issuer".padStart(8)}    ratio`);
  for (const [call, name] of BRIDGE_CALLS) {
    const [used, issuer] = [gas[call], ISSUER_GAS[call]];
    const isAbove = used > issuer * ISSUER_GAS_PARTS_MAX;
    if (isAbove) process.exitCode = 1;
    console.log(
      `${name.padEnd(50)} ${String(used).padStart(8)} ${String(issuer).padStart(8)}  ${(used / issuer).toFixed(3).padStart(7)}${isAbove ? "  above 1.02" : ""}`,
    );
  }
  for (const [speed, relay, receive] of [
    ["standard", gas.relayStandard, gas.receiveStandardRepeat],
    ["fast", gas.relayFast, gas.receiveFastRepeat],
  ] as const) {
    console.log(`${`the double's receipt alone, ${speed}`.padEnd(50)} ${String(relay).padStart(8)}`);
    console.log(`${`what the hub adds to it, repeat, ${speed}`.padEnd(50)} ${String(receive - relay).padStart(8)}`);
  }
}

const BRIDGE_CALLS: readonly (readonly [BridgeCall, string])[] = [
  ["burnFirst", "burn, first"],
  ["burnRepeat", "burn, repeat"],
  ["receiveStandardFirst", "receive and settle, standard, first"],
  ["receiveStandardRepeat", "receive and settle, standard, repeat"],
  ["receiveFastFirst", "receive and settle, fast, first"],
  ["receiveFastRepeat", "receive and settle, fast, repeat"],
];

function print(title: string, floor: number, rows: readonly (readonly [string, number])[]): void {
  console.log(`\n${title.padEnd(50)} ${"gas".padStart(8)}  × floor`);
  for (const [name, used] of rows) {
    console.log(`${name.padEnd(50)} ${String(used).padStart(8)}  ${(used / floor).toFixed(3).padStart(7)}`);
  }
}
