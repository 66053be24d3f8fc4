import type { Payment } from "./payments.ts";

/** Prints each way before and after the recovery. Resolves with whether nothing is left anywhere. */
export async function printTable(
  payments: readonly Payment[],
  before: ReadonlyMap<Payment, bigint>,
  print: (line: string) => void,
): Promise<boolean> {
  const width = Math.max(...payments.map(({ way }) => way.length));
  const line = (cells: readonly string[]) =>
    print(cells.map((cell, index) => (index === 0 ? cell.padEnd(width) : cell.padStart(22))).join("  "));
  let isEmpty = true;
  line(["way", "paid", "in the inbox before", "after"]);
  for (const payment of payments) {
    const left = await payment.left();
    isEmpty &&= left === 0n;
    const held = before.get(payment) ?? 0n;
    line([payment.way, `${payment.units} ${payment.asset}`, held === 0n ? "burned" : String(held), String(left)]);
  }
  return isEmpty;
}
