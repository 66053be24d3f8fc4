import { cpus } from "node:os";
import { measureGas } from "../../contracts/scripts/gas.ts";

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
}

function print(title: string, floor: number, rows: readonly (readonly [string, number])[]): void {
  console.log(`\n${title.padEnd(50)} ${"gas".padStart(8)}  × floor`);
  for (const [name, used] of rows) {
    console.log(`${name.padEnd(50)} ${String(used).padStart(8)}  ${(used / floor).toFixed(3).padStart(7)}`);
  }
}
