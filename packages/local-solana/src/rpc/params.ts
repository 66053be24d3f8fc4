import { decodeBase58 } from "@tributary/inbox/solana/base58";
import { parseKey } from "@tributary/inbox/solana/keys";
import type { Block, Commitment, Ledger } from "../ledger/ledger.ts";
import { RpcError } from "./rpcError.ts";

// Reads the parameters of a call. The refusals have the code of the real nodes.

export type Params = readonly unknown[];
export type CallOptions = Readonly<Record<string, unknown>>;

function invalid(words: string): RpcError {
  return new RpcError("invalidParams", `Invalid params: ${words}`);
}

export function readKey(value: unknown): string {
  if (typeof value !== "string") throw invalid("expected a string");
  if (parseKey(value) === undefined) throw new RpcError("invalidParams", "Invalid param: Invalid");
  return value;
}

export function readText(value: unknown): string {
  if (typeof value !== "string") throw invalid("expected a string");
  return value;
}

export function readInteger(value: unknown): number {
  if (typeof value !== "number" || !Number.isInteger(value) || value < 0) throw invalid("expected u64");
  return value;
}

export function readList(value: unknown, max: number): unknown[] {
  if (!Array.isArray(value)) throw invalid("expected a sequence");
  if (value.length > max) throw new RpcError("invalidParams", `Too many inputs provided; max ${max}`);
  return value as unknown[];
}

/** The options of a call; null and absent ones are none. */
export function readOptions(value: unknown): CallOptions {
  if (value === undefined || value === null) return {};
  if (typeof value !== "object" || Array.isArray(value)) throw invalid("expected a map");
  return value as CallOptions;
}

export function readCommitment(value: unknown): Commitment {
  if (value === undefined || value === null) return "finalized";
  if (value === "processed" || value === "confirmed" || value === "finalized") return value;
  throw invalid("unknown variant, expected one of `processed`, `confirmed`, `finalized`");
}

/** The commitment of methods about blocks, which nodes store once they are confirmed. */
export function readStoredCommitment(options: CallOptions): Commitment {
  const commitment = readCommitment(options["commitment"]);
  if (commitment !== "processed") return commitment;
  throw new RpcError("invalidParams", "Method does not support commitment below `confirmed`");
}

/** The block at which a call reads. */
export function readBlock(ledger: Ledger, options: CallOptions): Block {
  const block = ledger.head(readCommitment(options["commitment"]));
  const { minContextSlot } = options;
  if (minContextSlot !== undefined && minContextSlot !== null && block.slot < readInteger(minContextSlot)) {
    const data = { contextSlot: block.slot };
    throw new RpcError("minContextSlotNotReached", "Minimum context slot has not been reached", data);
  }
  return block;
}

export function withContext(block: Block, value: unknown): object {
  return { context: { apiVersion: API_VERSION, slot: block.slot }, value };
}

export const API_VERSION = "4.0.0";

/** Decoding takes quadratic time; a transaction of the largest size has 1,683 digits. */
const BASE58_DIGITS_MAX = 2_000;

/** The bytes of a parameter in base58; undefined when it is malformed or too long. */
export function parseBase58(text: string): Uint8Array | undefined {
  return text.length > BASE58_DIGITS_MAX ? undefined : decodeBase58(text);
}
