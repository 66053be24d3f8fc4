import { malformedValue, parseArray, parseObject } from "../../rpc/jsonValues.ts";
import type { SolanaNode } from "../node.ts";
import { parseAddress, parseCount, parseSlot } from "../rpc/values.ts";

// The requests of the sender to one provider.

const CONFIRMED = { commitment: "confirmed" } as const;
const FINALIZED = { commitment: "finalized" } as const;

export type AccountState = { readonly owner: string; readonly data: Buffer; readonly lamports: bigint };

/** The accounts at these addresses; undefined where there is none. */
export async function fetchAccounts(
  node: SolanaNode,
  addresses: readonly string[],
  commitment: "confirmed" | "finalized" = "confirmed",
): Promise<(AccountState | undefined)[]> {
  const result = await node.request("getMultipleAccounts", [addresses, { encoding: "base64", commitment }]);
  return parseList(valueOf(result), addresses.length, "accounts").map((account) => {
    if (account === null) return undefined;
    const { owner, data, lamports } = parseObject(account, "an account");
    const [text, encoding] = parseArray(data, "the data of an account");
    if (typeof text !== "string" || encoding !== "base64") throw malformedValue("an account in base64", encoding);
    return {
      owner: parseAddress(owner, "the owner of an account"),
      data: Buffer.from(text, "base64"),
      lamports: BigInt(parseCount(lamports, "the lamports of an account")),
    };
  });
}

/** Why a transaction would fail. `instruction`: the number of the failed one. `code`: the failed program's own. */
export type SimulationFailure = {
  readonly instruction: number | undefined;
  readonly code: number | undefined;
  readonly text: string;
};

export type Simulation = { readonly failure: SimulationFailure | undefined; readonly computeUnits: number };

/** What a transaction would do now. Its signatures and its blockhash may be of any value. */
export async function simulateTransaction(node: SolanaNode, transaction: Uint8Array): Promise<Simulation> {
  const options = { encoding: "base64", sigVerify: false, replaceRecentBlockhash: true, ...CONFIRMED };
  const parameters = [Buffer.from(transaction).toString("base64"), options];
  const { err, unitsConsumed } = parseObject(
    valueOf(await node.request("simulateTransaction", parameters)),
    "a result",
  );
  const failure = parseFailure(err);
  // A transaction that is refused as a whole has used none.
  return { failure, computeUnits: failure === undefined ? parseCount(unitsConsumed, "compute units") : 0 };
}

function parseFailure(error: unknown): SimulationFailure | undefined {
  if (error === null) return undefined;
  const whole = { instruction: undefined, code: undefined };
  if (typeof error === "string") return { ...whole, text: error };
  const { InstructionError: failed } = parseObject(error, "an error");
  if (!Array.isArray(failed)) return { ...whole, text: JSON.stringify(error) };
  const [instruction, reason] = failed as unknown[];
  const custom: unknown = typeof reason === "object" && reason !== null ? Reflect.get(reason, "Custom") : undefined;
  const text = typeof reason === "string" ? reason : JSON.stringify(reason);
  return {
    instruction: parseCount(instruction, "the number of an instruction"),
    code: typeof custom === "number" ? custom : undefined,
    text,
  };
}

/** A blockhash, and the height of the last block that can include a transaction with it. */
export type Lifetime = { readonly blockhash: string; readonly lastValidHeight: bigint };

export async function fetchLifetime(node: SolanaNode): Promise<Lifetime> {
  const value = parseObject(valueOf(await node.request("getLatestBlockhash", [CONFIRMED])), "a blockhash");
  return {
    blockhash: parseAddress(value["blockhash"], "a blockhash"),
    lastValidHeight: parseSlot(value["lastValidBlockHeight"]),
  };
}

/** Whether the next block can include transactions with this blockhash. */
export async function isBlockhashValid(node: SolanaNode, blockhash: string): Promise<boolean> {
  return valueOf(await node.request("isBlockhashValid", [blockhash, { commitment: "processed" }])) === true;
}

/**
 * The lowest price that each of the last blocks included for a transaction that writes these accounts, in
 * micro-lamports a compute unit.
 */
export async function fetchPriorityFees(node: SolanaNode, accounts: readonly string[]): Promise<bigint[]> {
  const slots = parseArray(await node.request("getRecentPrioritizationFees", [accounts]), "fees");
  return slots.map((slot) => BigInt(parseCount(parseObject(slot, "a fee")["prioritizationFee"], "a fee")));
}

export async function fetchFinalizedHeight(node: SolanaNode): Promise<bigint> {
  return parseSlot(await node.request("getBlockHeight", [FINALIZED]));
}

export type TransactionStatus = { readonly slot: bigint; readonly succeeded: boolean; readonly isFinal: boolean };

/** What a provider knows about transactions, old ones included; undefined for those that it does not know. */
export async function fetchStatuses(
  node: SolanaNode,
  chainTxs: readonly string[],
): Promise<(TransactionStatus | undefined)[]> {
  const result = await node.request("getSignatureStatuses", [chainTxs, { searchTransactionHistory: true }]);
  return parseList(valueOf(result), chainTxs.length, "statuses").map((status) => {
    if (status === null) return undefined;
    const { slot, err, confirmationStatus } = parseObject(status, "a status");
    if (err === undefined) throw malformedValue("a status with its result", status);
    return { slot: parseSlot(slot), succeeded: err === null, isFinal: confirmationStatus === "finalized" };
  });
}

/**
 * Passes signed bytes on, unchecked: they were simulated before they were signed, and a node that lags would refuse
 * them.
 */
export async function broadcastTransaction(node: SolanaNode, raw: string): Promise<void> {
  await node.request("sendTransaction", [raw, { encoding: "base64", skipPreflight: true }]);
}

/** The lamports that an account of so many bytes needs. */
export async function fetchRent(node: SolanaNode, bytes: number): Promise<bigint> {
  return BigInt(parseCount(await node.request("getMinimumBalanceForRentExemption", [bytes]), "a rent"));
}

export async function fetchLamports(node: SolanaNode, address: string): Promise<bigint> {
  return BigInt(parseCount(valueOf(await node.request("getBalance", [address, CONFIRMED])), "a balance"));
}

function valueOf(result: unknown): unknown {
  return parseObject(result, "an answer with a value")["value"];
}

function parseList(value: unknown, length: number, what: string): readonly unknown[] {
  const list = parseArray(value, what);
  if (list.length !== length) throw malformedValue(`${length} ${what}`, value);
  return list;
}
