import { measureCosts } from "../../programs/scripts/measure.ts";
import { solanaProgramBytes, solanaProgramHash } from "@tributary/inbox/solana/program";

// Prints the compute units, bytes and lamports of the inbox program's transactions. They do not depend on the machine.
// The bridge runs against doubles of Circle's programs.

/** The present price on public clusters, at which the transactions run. */
const LAMPORTS_PER_BYTE = 5_080;
const ACCOUNT_OVERHEAD = 128;
const PROGRAM_ACCOUNT_BYTES = 36;
const PROGRAM_DATA_HEADER_BYTES = 45;

export async function benchSolana(): Promise<void> {
  const sizes = [PROGRAM_ACCOUNT_BYTES, PROGRAM_DATA_HEADER_BYTES + solanaProgramBytes];
  const locked = sizes.reduce((sum, bytes) => sum + (ACCOUNT_OVERHEAD + bytes) * LAMPORTS_PER_BYTE, 0);
  console.log(`inbox program: ${solanaProgramBytes} bytes, ${locked} lamports locked, SHA-256 ${solanaProgramHash}\n`);
  console.log(
    `${"transaction".padEnd(50)} ${"CU".padStart(7)} ${"bytes".padStart(6)} ${"operator, lamports".padStart(19)}`,
  );
  for (const { name, computeUnits, bytes, operatorLamports } of measureCosts()) {
    const lamports = operatorLamports === undefined ? "" : String(operatorLamports);
    console.log(
      `${name.padEnd(50)} ${String(computeUnits).padStart(7)} ${String(bytes).padStart(6)} ${lamports.padStart(19)}`,
    );
  }
}
