import type { ParsedTransaction } from "./transaction.ts";
import type { TransactionError } from "./transactionErrors.ts";

// What clients of a node learn about a transaction that ran.

export type InnerInstruction = {
  readonly programIdIndex: number;
  readonly accounts: readonly number[];
  readonly data: Uint8Array;
  readonly stackHeight: number;
};
export type TokenBalance = {
  readonly accountIndex: number;
  readonly mint: string;
  readonly owner: string;
  readonly programId: string;
  readonly units: bigint;
  readonly decimals: number;
};
export type Balances = { readonly lamports: readonly bigint[]; readonly tokens: readonly TokenBalance[] };
export type LoadedKeys = { readonly writable: readonly string[]; readonly readonly: readonly string[] };

export type Outcome = {
  readonly error: TransactionError | null;
  readonly logs: readonly string[];
  readonly computeUnits: bigint;
  readonly returnData: { readonly programId: string; readonly data: Uint8Array } | null;
  readonly inner: readonly { readonly index: number; readonly instructions: readonly InnerInstruction[] }[];
};
export type ExecutedTransaction = Outcome & {
  readonly signature: string;
  readonly parsed: ParsedTransaction;
  /** Those of the message, then those of lookup tables. */
  readonly keys: readonly string[];
  readonly writableKeys: readonly string[];
  readonly loaded: LoadedKeys;
  readonly fee: bigint;
  readonly before: Balances;
  readonly after: Balances;
};

export type LandedTransaction = ExecutedTransaction & {
  readonly slot: number;
  /** Position in its block. */
  readonly index: number;
  /** Whether its node has not kept what it did. */
  isResultLost?: boolean;
  /** As nodes name it; a later one than the chain runs where the control says so. */
  version: "legacy" | number;
};
