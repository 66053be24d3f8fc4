import { decodeBase58 } from "@tributary/inbox/solana/base58";
import type { Instruction } from "../rpc/parseTransaction.ts";
import { TOKEN_PROGRAMS } from "./mints.ts";

// What moves tokens out of an inbox: instructions of a token program below a call of the inbox program. Only that
// program signs for inboxes.

export type Leg = {
  tokenProgram: string;
  /** A token account. */
  source: string;
  /** The token account that receives them; undefined when they are burned. */
  destination: string | undefined;
  /** Signs for the source: its owner, or whom the owner allowed to. */
  authority: string;
  /** Undefined when the instruction does not name it. */
  mint: string | undefined;
  units: bigint;
  /** Place among the transaction's instructions. */
  order: number;
};

const TRANSFER = 3;
const BURN = 8;
const TRANSFER_CHECKED = 12;
const BURN_CHECKED = 15;
/** Token-2022's transfers that name their fee: a second byte names the instruction. */
const TRANSFER_FEE = 26;
const TRANSFER_CHECKED_WITH_FEE = 1;
/** No instruction of these has more digits. */
const DATA_LENGTH_MAX = 64;

/** The legs of a transaction, in the order of their execution. */
export function findInboxLegs(instructions: readonly Instruction[], program: string): Leg[] {
  const legs: Leg[] = [];
  /** The depth of the inbox program's call around the instruction. */
  let around: number | undefined;
  for (const [order, instruction] of instructions.entries()) {
    if (around !== undefined && instruction.depth <= around) around = undefined;
    if (around === undefined) {
      if (instruction.program === program) around = instruction.depth;
      continue;
    }
    const leg = TOKEN_PROGRAMS.includes(instruction.program) ? parseLeg(instruction) : undefined;
    if (leg && leg.units > 0n && leg.source !== leg.destination) legs.push({ ...leg, order });
  }
  return legs;
}

function parseLeg({ program: tokenProgram, accounts, data }: Instruction): Omit<Leg, "order"> | undefined {
  const bytes = data.length > DATA_LENGTH_MAX ? undefined : decodeBase58(data);
  if (bytes === undefined || bytes.length === 0) return undefined;
  const view = Buffer.from(bytes);
  const tag = view.readUInt8(0);
  const isWithFee = tag === TRANSFER_FEE && view.length > 1 && view.readUInt8(1) === TRANSFER_CHECKED_WITH_FEE;
  const at = isWithFee ? 2 : 1;
  if (view.length < at + 8) return undefined;
  const units = view.readBigUInt64LE(at);
  const [source = "", second = "", third = "", fourth = ""] = accounts;
  if (tag === TRANSFER) return { tokenProgram, source, destination: second, authority: third, mint: undefined, units };
  if (tag === TRANSFER_CHECKED || isWithFee)
    return { tokenProgram, source, mint: second, destination: third, authority: fourth, units };
  if (tag === BURN || tag === BURN_CHECKED)
    return { tokenProgram, source, mint: second, destination: undefined, authority: third, units };
  return undefined;
}
