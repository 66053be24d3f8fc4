import type { SolanaInbox } from "@tributary/inbox/solana/address";
import { cctpTransmitter, deriveCctpAccounts } from "@tributary/inbox/solana/cctp";
import {
  buildReceiveMessage,
  deriveUsedNonce,
  type AttestedCctpMessage,
} from "@tributary/inbox/solana/cctpInstructions";
import type { SolanaInstruction } from "@tributary/inbox/solana/instructions";
import { encodeKey } from "@tributary/inbox/solana/keys";
import { parseBurnMessage, toMessageAccount } from "@tributary/inbox/burnMessage";
import { hexToBytes, type Hex } from "viem";
import { askLowerMedian } from "../../lowerMedian.ts";
import { SettleRefused, type MintItem, type MintOutlook, type PreparedMint, type SenderWorld } from "../../sender.ts";
import type { SolanaNode } from "../node.ts";
import { prepareTransaction } from "../prepareTransaction.ts";
import { COMPUTE_UNITS_MAX } from "../send/permittedMessage.ts";
import { fetchQuote } from "../send/priorityFees.ts";
import type { SolanaSenderContext } from "../send/senderContext.ts";
import { fetchAccounts, fetchRent, type SimulationFailure } from "../send/sendRequests.ts";
import { createInstruction, toInbox, unsignedTransaction, withBudget } from "../send/settleTransaction.ts";
import { findOutlook, simulateCalls, simulateInstructions, type SettlePlan } from "../send/simulateSettlement.ts";

// What the bridge gives on Solana takes up to three transactions: a receipt with its signatures fills one. The first
// creates the inbox's token account, without which nothing is received; the second receives; the third settles. Each
// looks at what the chain shows, so a stranger may have sent any of them.

type NextStep = { kind: "open" } | { kind: "settle" } | { kind: "receive"; plan: SettlePlan };
type Refusal = { kind: "unproven" | "refused"; reason: string };
/** What comes next, or why nothing does. */
type Step = NextStep | { kind: "received" } | { kind: "expired" } | Refusal;

/** A receipt that is to be sent, with everything that the fee payer compares. */
type Receipt = { inbox: SolanaInbox; signed: AttestedCctpMessage };

/** In the state of Circle's messenger: the wallet that gets its fees. */
const FEE_RECIPIENT = 109;
const AMOUNT = 64;
/** Errors of Circle's programs. The transmitter's own about a message, and the messenger's, begin at 6,000. */
const CIRCLE_ERRORS = 6_000;
const PAUSED = 6_001;
const EXPIRED = 6_016;
/** An account of the messenger's does not exist. */
const NOT_INITIALIZED = 3_012;
/** Bytes of the account of a message's number. Its rent never returns. */
const NONCE_BYTES = 9;
const SIGNATURE_LAMPORTS = 5_000n;
const STEPS = 3n;
/** Of all steps together. */
const COMPUTE_UNITS = 300_000n;
const MICRO_LAMPORTS = 1_000_000n;

/** What receiving would do now. A second provider must refuse too, where there is one. */
export async function findMintOutlook(context: SolanaSenderContext, item: MintItem): Promise<MintOutlook> {
  const step = await findStep(context, item);
  return isNext(step) ? { kind: "moves" } : step;
}

/** Prices the next step. Throws SettleRefused when there is none. */
export async function prepareMint(
  world: SenderWorld,
  context: SolanaSenderContext,
  item: MintItem,
): Promise<PreparedMint | undefined> {
  const step = await findStep(context, item);
  if (!isNext(step))
    throw new SettleRefused("reason" in step ? step.reason : `nothing would be received: ${step.kind}`);
  const fee = await estimateFee(context);
  const prepared = await prepareStep(world, context, { item, step });
  const work = step.kind === "receive" ? BigInt(step.plan.computeUnits) : COMPUTE_UNITS;
  return prepared && { ...prepared, work, fee, ...(step.kind === "open" && { isOpening: true }) };
}

function isNext(step: Step): step is NextStep {
  return step.kind === "open" || step.kind === "settle" || step.kind === "receive";
}

async function prepareStep(
  world: SenderWorld,
  context: SolanaSenderContext,
  { item, step }: { item: MintItem; step: NextStep },
) {
  const { feePayer, program, feeRecipient, feeCeiling, tokenPrograms } = context;
  const rules = { program, feeRecipient, computeUnitPriceMax: feeCeiling.computeUnitPriceMax };
  if (step.kind === "settle")
    return prepareTransaction(world, context, {
      outlook: () => findOutlook(context, [item]),
      sign: (message) => feePayer.sign(message, rules),
    });
  const receipt = toReceipt(item, program);
  if ("reason" in receipt) throw new SettleRefused(receipt.reason);
  const { inbox, signed } = receipt;
  if (step.kind === "open")
    return prepareTransaction(world, context, {
      outlook: () =>
        context.providers.run((node) => simulateInstructions(context, node, [openInstruction(context, inbox)])),
      sign: (message, at) =>
        feePayer.signOpening(message, { ...rules, tokenPrograms, terms: [inbox.terms], at, isProven: true }),
    });
  const { mint } = inbox.terms;
  const bridgeFeeRecipient = await context.providers.run(async (node) => (await readState(node, receipt)).feeRecipient);
  return prepareTransaction(world, context, {
    outlook: async () => ({ plan: step.plan }),
    sign: (message) =>
      feePayer.signReceipt(message, { ...rules, signed, mint, recipient: inbox.tokenAccount, bridgeFeeRecipient }),
  });
}

function openInstruction({ feePayer }: SolanaSenderContext, inbox: SolanaInbox): SolanaInstruction {
  const { address: owner, tokenAccount: account, tokenProgram, terms } = inbox;
  return createInstruction(feePayer.address, { owner, account, mint: terms.mint, tokenProgram });
}

async function findStep(context: SolanaSenderContext, item: MintItem): Promise<Step> {
  const held = context.heldMints.get(item.token);
  if (held !== undefined) return { kind: "refused", reason: `the mint ${held}` };
  const receipt = toReceipt(item, context.program);
  if ("reason" in receipt) return receipt;
  const look = (node: SolanaNode) => lookAt(context, node, receipt);
  const first = await context.providers.run(look);
  if (isNext(first) || context.providers.providerCount < 2) return first;
  const second = await context.providers.runLastFirst(look);
  return isNext(second) ? second : first;
}

/** The inbox and its message. Refused for a message that gives nothing to this inbox. */
function toReceipt(item: MintItem, program: string): Receipt | Refusal {
  const inbox = toInbox(item, program);
  if ("refusal" in inbox) return { kind: "refused", reason: inbox.refusal };
  if (inbox.terms.kind !== "pay") return { kind: "refused", reason: "the inbox can only cross" };
  const recipient = parseBurnMessage(item.message)?.recipient;
  if (recipient !== toMessageAccount(inbox.tokenAccount))
    return { kind: "refused", reason: "the message is for another account" };
  const signed = { message: hexToBytes(item.message as Hex), attestation: hexToBytes(item.attestation as Hex) };
  return { inbox, signed };
}

type BridgeState = {
  isUsed: boolean;
  /** Undefined without an account. */
  units: bigint | undefined;
  feeRecipient: string;
};

async function readState(node: SolanaNode, { inbox, signed }: Receipt): Promise<BridgeState> {
  const { mint } = inbox.terms;
  const { messengerState } = deriveCctpAccounts({ mint, domain: 0, sender: mint });
  const addresses = [deriveUsedNonce(signed.message), inbox.tokenAccount, messengerState];
  const [nonce, account, state] = await fetchAccounts(node, addresses);
  if (state === undefined || state.data.length < FEE_RECIPIENT + 32)
    throw new SettleRefused("the bridge's programs are not there");
  return {
    // Anybody can send lamports to the address of a number that is not used yet.
    isUsed: nonce?.owner === cctpTransmitter,
    units: account?.owner === inbox.tokenProgram ? account.data.readBigUInt64LE(AMOUNT) : undefined,
    feeRecipient: encodeKey(new Uint8Array(state.data.subarray(FEE_RECIPIENT, FEE_RECIPIENT + 32))),
  };
}

async function lookAt(context: SolanaSenderContext, node: SolanaNode, receipt: Receipt): Promise<Step> {
  const { inbox, signed } = receipt;
  const { isUsed, units, feeRecipient } = await readState(node, receipt);
  if (isUsed) return (units ?? 0n) > 0n ? { kind: "settle" } : { kind: "received" };
  const payer = context.feePayer.address;
  const receive = buildReceiveMessage(signed, { payer, mint: inbox.terms.mint, feeRecipient });
  const budgeted = withBudget({ units: COMPUTE_UNITS_MAX, price: 0n }, [receive]);
  const isBare = !isShort(payer, budgeted);
  const simulated = await simulateCalls(context, node, isBare ? [receive] : budgeted);
  if ("computeUnits" in simulated) return { kind: "receive", plan: { instructions: [receive], ...simulated, isBare } };
  const { failure } = simulated;
  return failure.code === NOT_INITIALIZED && units === undefined ? { kind: "open" } : toRefusal(failure);
}

function isShort(payer: string, instructions: readonly SolanaInstruction[]): boolean {
  try {
    unsignedTransaction(payer, instructions);
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

function toRefusal({ code, text }: SimulationFailure): Step {
  if (code === EXPIRED) return { kind: "expired" };
  const isOfMessage = code !== undefined && code >= CIRCLE_ERRORS && code !== PAUSED;
  return { kind: isOfMessage ? "unproven" : "refused", reason: text };
}

/** Of all steps. The rent of an account that is opened returns when it is settled. */
async function estimateFee(context: SolanaSenderContext): Promise<bigint> {
  const [quote, rent] = await Promise.all([
    fetchQuote(context),
    askLowerMedian(context.providers, (node) => fetchRent(node, NONCE_BYTES)),
  ]);
  const { computeUnitPriceMax } = context.feeCeiling;
  const price = quote < computeUnitPriceMax ? quote : computeUnitPriceMax;
  return rent + STEPS * SIGNATURE_LAMPORTS + (price * COMPUTE_UNITS) / MICRO_LAMPORTS + 1n;
}
