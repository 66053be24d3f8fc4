import type { SolanaInbox } from "@tributary/inbox/solana/address";
import { cctpTransmitter } from "@tributary/inbox/solana/cctp";
import { instructionTags, type SolanaInstruction } from "@tributary/inbox/solana/instructions";
import { associatedTokenProgram } from "@tributary/inbox/solana/keys";
import { halveWhatFails } from "../../../kernel/errors/halveWhatFails.ts";
import { SettleRefused, type SettleItem } from "../../sender.ts";
import type { SolanaNode } from "../node.ts";
import { COMPUTE_UNITS_MAX } from "./permittedMessage.ts";
import type { SolanaSenderContext } from "./senderContext.ts";
import { fetchAccounts, simulateTransaction, type SimulationFailure } from "./sendRequests.ts";
import {
  batchKey,
  recipientsOf,
  settleInstructions,
  toInbox,
  unsignedTransaction,
  withBudget,
} from "./settleTransaction.ts";

/**
 * A transaction that would settle, without its fees. `computeUnits`: what it would use, and a margin. `isBare`: it has
 * no room for a limit and a price of compute units.
 */
export type SettlePlan = {
  readonly instructions: readonly SolanaInstruction[];
  readonly computeUnits: number;
  readonly isBare?: boolean;
};

export type Outlook = { readonly plan: SettlePlan } | { readonly refusal: string };

/** The program's errors in the order of their numbers. */
const FIRST_ERROR = 0x100;
const ERROR_NAMES = (
  "ACCOUNTS DATA KIND TOKEN_PROGRAM MINT PDA INBOX FROZEN PAYOUT FEE_BPS ROUTE MINIMUM SIGNER LEFT RECOVERY EARLY NOTHING RENT " +
  "EXCESS PROGRAM"
).split(" ");
/** There is no token account, so that the inbox is empty. */
const NO_ACCOUNT = "INBOX";
/** Of the system program: the source has too few lamports. */
const TOO_FEW_LAMPORTS = 1;
const PAYER_FAILURES = /^(?:AccountNotFound|InsufficientFundsForFee|InvalidAccountForFee)$|InsufficientFundsForRent/;
/** A deposit, or a payout account that somebody closes, may come between simulation and inclusion. */
const MARGIN_PERCENT = 25;
const MARGIN_UNITS = 10_000;
/** Below the highest limit, so that the sender may add to it. */
const PLANNED_UNITS_MAX = COMPUTE_UNITS_MAX - 1_000;

/** Why each item would not settle; undefined where it would, or where there is nothing to settle. */
export async function findRefusals(
  context: SolanaSenderContext,
  items: readonly SettleItem[],
): Promise<(string | undefined)[]> {
  const reasons = new Map<SettleItem, string | undefined>();
  for (const batch of Map.groupBy(items, batchKey).values()) {
    await halveWhatFails(batch, {
      step: async (half) => {
        const outlook = await findOutlook(context, half);
        if ("refusal" in outlook) throw new SettleRefused(outlook.refusal);
      },
      isCausedByItems: (error) => error instanceof SettleRefused,
      onFailed: (item, error) => {
        const refusal = error instanceof Error ? error.message : "";
        if (refusal !== NO_ACCOUNT) reasons.set(item, `settle_refused ${refusal}`);
      },
    });
  }
  return items.map((item) => reasons.get(item));
}

/**
 * What a transaction for the items would do. One provider's refusal must not delay money, because a failed attempt
 * costs only fees. A second provider simulates too, where there is one, and both must refuse. Throws an Error when the
 * payer has too few lamports.
 */
export async function findOutlook(context: SolanaSenderContext, items: readonly SettleItem[]): Promise<Outlook> {
  const inboxes: SolanaInbox[] = [];
  for (const item of items) {
    // A transfer may arrive short, or not at all.
    const reason = context.heldMints.get(item.token);
    if (reason !== undefined) return { refusal: `the mint ${reason}` };
    const inbox = toInbox(item, context.program);
    if ("refusal" in inbox) return inbox;
    inboxes.push(inbox);
  }
  const [first, ...others] = inboxes;
  if (first === undefined) throw new Error("a batch needs an item");
  return lookAgainIfRefused(context, (node) => simulate(context, node, [first, ...others]));
}

/** Asks a second provider, where there is one, about what the first one refuses. */
export async function lookAgainIfRefused(
  context: SolanaSenderContext,
  look: (node: SolanaNode) => Promise<Outlook>,
): Promise<Outlook> {
  const outlook = await context.providers.run(look);
  if ("plan" in outlook || context.providers.providerCount < 2) return outlook;
  const second = await context.providers.runLastFirst(look);
  return "plan" in second ? second : outlook;
}

async function simulate(
  context: SolanaSenderContext,
  node: SolanaNode,
  inboxes: readonly [SolanaInbox, ...SolanaInbox[]],
): Promise<Outlook> {
  const { feePayer, feeRecipient } = context;
  const recipients = recipientsOf(inboxes[0], feeRecipient);
  const accounts = await fetchAccounts(
    node,
    recipients.map(({ account }) => account),
  );
  const missing = recipients.filter((_, index) => accounts[index] === undefined);
  return simulateInstructions(context, node, settleInstructions(inboxes, { payer: feePayer.address, missing }));
}

/**
 * What a transaction with these instructions would do by one provider. Throws an Error when the payer has too few
 * lamports.
 */
export async function simulateInstructions(
  context: SolanaSenderContext,
  node: SolanaNode,
  instructions: readonly SolanaInstruction[],
): Promise<Outlook> {
  const budgeted = withBudget({ units: COMPUTE_UNITS_MAX, price: 0n }, instructions);
  try {
    const simulated = await simulateCalls(context, node, budgeted);
    if ("computeUnits" in simulated) return { plan: { instructions, ...simulated } };
    const { failure } = simulated;
    return { refusal: describeFailure(failure, budgeted[failure.instruction ?? -1]?.program === context.program) };
  } catch (error) {
    if (error instanceof RangeError) return { refusal: error.message };
    throw error;
  }
}

/**
 * What a transaction with exactly these instructions would do by one provider. Throws an Error when the payer has too
 * few lamports, a RangeError when it is too long.
 */
export async function simulateCalls(
  { feePayer: { address: payer }, program: inboxProgram }: SolanaSenderContext,
  node: SolanaNode,
  instructions: readonly SolanaInstruction[],
): Promise<Pick<SettlePlan, "computeUnits"> | { failure: SimulationFailure }> {
  const { failure, computeUnits } = await simulateTransaction(node, unsignedTransaction(payer, instructions));
  if (failure === undefined) return { computeUnits: withMargin(computeUnits) };
  const failed = instructions[failure.instruction ?? -1];
  const isPayerEmpty =
    PAYER_FAILURES.test(failure.text) || (paysRent(failed, inboxProgram) && failure.code === TOO_FEW_LAMPORTS);
  if (isPayerEmpty) throw new Error(`the fee payer ${payer} has too few lamports: ${failure.text}`);
  return { failure };
}

/** It pays for an account: of a token, of a burn's message below the inbox program, or of the number of a receipt. */
function paysRent(instruction: SolanaInstruction | undefined, inboxProgram: string): boolean {
  const isBurn = instruction?.program === inboxProgram && instruction.data[0] === instructionTags.bridge;
  return isBurn || instruction?.program === associatedTokenProgram || instruction?.program === cctpTransmitter;
}

function withMargin(computeUnits: number): number {
  return Math.min(PLANNED_UNITS_MAX, Math.ceil((computeUnits * (100 + MARGIN_PERCENT)) / 100) + MARGIN_UNITS);
}

function describeFailure({ code, text }: SimulationFailure, isInboxProgram: boolean): string {
  const name = isInboxProgram && code !== undefined ? ERROR_NAMES[code - FIRST_ERROR] : undefined;
  return name ?? text;
}
