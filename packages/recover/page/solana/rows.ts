import { checksumAddress, parseAddress } from "@tributary/inbox/checksum";
import { noKey } from "@tributary/inbox/solana/keys";
import type { Hex } from "@tributary/inbox/terms";
import { formatDay, formatUnits } from "../../src/format.ts";
import type { VerifiedInbox } from "../../src/parseInboxes.ts";
import type { InboxLamports, NestedHolding, SolanaHolding, SolanaInspection } from "../../src/solana/inspectSolana.ts";
import type { RecoverableInbox } from "../../src/solana/parseSolanaInboxes.ts";
import {
  batchSolanaSettlements,
  buildBridgeCalls,
  buildReclaimCalls,
  buildRescueCalls,
  buildRescueLamportsCalls,
  buildSettleCalls,
  buildUnnestCalls,
  planSolanaRecovery,
  planSolanaRescue,
  reclaimableLamports,
  rescuableLamports,
  type SolanaHopRoute,
} from "../../src/solana/planSolanaRecovery.ts";
import { createEventSigner, type WalletCall } from "./sendWithWallet.ts";

// What the page shows of each balance, and what a wallet can do with it. Every action says beforehand what it does.

export type Action = {
  readonly label: string;
  /** What its transaction does. */
  readonly effect: string;
  readonly isBridge?: true;
  /** Sends to the receiver of the page's field, which is checked first. */
  readonly receiver?: string;
  /** One call for each transaction. */
  build(): WalletCall[];
};

export type Row = {
  readonly title: string;
  readonly place: string;
  readonly notes: readonly string[];
  readonly actions: readonly Action[];
};

export type RowContext = {
  readonly inspection: SolanaInspection;
  readonly decimals: ReadonlyMap<string, number>;
  /** The connected account. */
  readonly account: string | undefined;
  /** Who receives what is rescued, unless it is the connected account. */
  readonly receiver: string | undefined;
  /** The inboxes of the same file on EVM chains. */
  readonly onEvm: readonly VerifiedInbox[];
};

/** Circle's USDC on mainnet and devnet. */
const USDC_MINTS = ["EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v", "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJERFDU"];
const SOL_DECIMALS = 9;
const PPM_PER_PERCENT = 10_000;
const BPS = 10_000n;
const ANYONE = "Anyone can send it. Connect a wallet.";

export function listRows(context: RowContext): Row[] {
  const { holdings, nested, lamports } = context.inspection;
  return [
    ...holdings.map((holding) => describeHolding(holding, context)),
    ...nested.map((holding) => describeNested(holding, context)),
    ...lamports.flatMap((found) => describeLamports(found, context)),
    ...describeAll(holdings, context),
  ];
}

/** One button for what more than one inbox pays out. */
function describeAll(holdings: readonly SolanaHolding[], { inspection, account }: RowContext): Row[] {
  const payable = holdings.filter((each) => planSolanaRecovery(each, inspection.timestamp).kind === "settle");
  if (account === undefined || payable.length < 2) return [];
  const batches = batchSolanaSettlements(payable);
  const action: Action = {
    label: `Settle all ${payable.length}`,
    effect: `Does the same for each of them, in ${batches.length === 1 ? "one transaction" : `${batches.length} transactions`}.`,
    build: () => batches.map((batch) => ({ instructions: buildSettleCalls(batch, account) })),
  };
  return [{ title: `${payable.length} balances to settle`, place: "", notes: [], actions: [action] }];
}

function describeHolding(holding: SolanaHolding, context: RowContext): Row {
  const { mint, recoverable, isPinned, tokenAccount } = holding;
  const isExtra = isPinned && tokenAccount !== recoverable.inbox.tokenAccount;
  const mintName = isPinned ? `mint ${mint}` : `mint ${mint}, which is not the one of its terms`;
  return {
    title: formatAmount(holding, context),
    place: `${mintName}, in ${nameOf(recoverable)}${isExtra ? `, account ${tokenAccount}` : ""}`,
    ...joinOptions(describeWay(holding, context), describeRescue(holding, context)),
  };
}

type Options = Pick<Row, "notes" | "actions">;
const note = (text: string): Options => ({ notes: [text], actions: [] });
const offer = (...actions: readonly Action[]): Options => ({ notes: [], actions });
const joinOptions = (...all: readonly Options[]): Options => ({
  notes: all.flatMap(({ notes }) => notes),
  actions: all.flatMap(({ actions }) => actions),
});

function describeWay(holding: SolanaHolding, context: RowContext): Options {
  const plan = planSolanaRecovery(holding, context.inspection.timestamp);
  const { account } = context;
  switch (plan.kind) {
    case "settle":
      return account === undefined ? note(ANYONE) : offer(settleAction(holding, account, context));
    case "bridge":
      return account === undefined
        ? note(ANYONE)
        : offer(...plan.routes.map((route) => bridgeAction(holding, { route, payer: account }, context)));
    case "unbridgeable":
      return note(describeUnbridgeable(holding, plan.reason, context));
    case "rescue":
    case "none":
      return joinOptions();
  }
}

function settleAction(holding: SolanaHolding, payer: string, context: RowContext): Action {
  const { terms } = holding.recoverable.inbox;
  if (terms.kind !== "pay") throw new RangeError("only an inbox of kind pay is settled");
  return {
    label: "Settle to the payout",
    effect: describePayment(holding, terms.payout, context),
    build: () => [{ instructions: buildSettleCalls([holding], payer) }],
  };
}

/** The pinned mint pays the fee of kind `pay`, in a rescue too. */
function describePayment(holding: SolanaHolding, to: string, context: RowContext): string {
  const { terms } = holding.recoverable.inbox;
  const feeBps = holding.isPinned && terms.kind === "pay" ? terms.feeBps : 0;
  const feeUnits = (holding.units * BigInt(feeBps)) / BPS;
  const net = formatAmount({ ...holding, units: holding.units - feeUnits }, context);
  const fee =
    feeUnits === 0n || terms.kind !== "pay"
      ? ""
      : `, and the fee of ${formatAmount({ ...holding, units: feeUnits }, context)} to ${terms.feeAccount}`;
  return `Sends ${net} to the wallet ${to}${fee}.`;
}

function bridgeAction(
  holding: SolanaHolding,
  { route, payer }: { route: SolanaHopRoute; payer: string },
  context: RowContext,
): Action {
  const way = route.speed === "fast" ? "Bridge fast" : "Bridge";
  return {
    label: `${way} for at most ${route.feePpmMax / PPM_PER_PERCENT} %`,
    effect: `Burns ${formatAmount(holding, context)} here for ${describeRecipient(holding, context)}. Circle keeps at most the share on the button. Your wallet lends the rent of the message, and can reclaim it from Circle's program after five days.`,
    isBridge: true,
    build: () => {
      const event = createEventSigner();
      return [{ instructions: buildBridgeCalls(holding, { payer, event: event.address, route }), event }];
    },
  };
}

function describeRecipient({ recoverable }: SolanaHolding, { onEvm }: RowContext): string {
  const { terms } = recoverable.inbox;
  if (terms.kind !== "hop") throw new RangeError("only an inbox of kind hop is bridged");
  const recipient = formatRecipient(terms.mintRecipient);
  const own = onEvm.find(({ address }) => checksumAddress(address) === recipient);
  return own === undefined
    ? `${recipient} on the chain with Circle's number ${terms.domain}; this file does not show whose inbox that is`
    : `the inbox ${recipient} of the same file on chain ${own.terms.settleChainId}`;
}

/** An address on an EVM chain has twelve zero bytes before it. */
export function formatRecipient(mintRecipient: Hex): string {
  const address = parseAddress(mintRecipient.replace(/^0x0{24}/, "0x"));
  return address === undefined ? mintRecipient : checksumAddress(address);
}

function describeUnbridgeable(
  holding: SolanaHolding,
  reason: "minimum" | "messenger" | "routes",
  context: RowContext,
): string {
  const { terms } = holding.recoverable.inbox;
  if (reason === "messenger") return "Its terms name a messenger that is not Circle's, so it is not bridged here.";
  if (reason === "routes" || terms.kind !== "hop") return "Its terms have no route, so it cannot be bridged.";
  return `The bridge takes at least ${formatAmount({ ...holding, units: terms.minAmount }, context)}: it leaves with the next deposit.`;
}

/** The recovery key's way: the only one for another mint, and from the recovery date on one for the pinned mint too. */
function describeRescue(holding: SolanaHolding, context: RowContext): Options {
  const { inspection, account } = context;
  const plan = planSolanaRescue(holding, inspection.timestamp);
  if (plan.kind !== "rescue")
    return holding.isPinned ? joinOptions() : note("Its terms name no recovery key, so nothing moves it.");
  if (!plan.isAllowed) return note(`The recovery key may take it from ${formatDay(plan.allowedFromSeconds)}.`);
  if (plan.sender !== account) return note(`Connect the recovery key ${plan.sender} to rescue it.`);
  const to = context.receiver ?? account;
  return offer({
    label: "Rescue",
    effect: describePayment(holding, to, context),
    receiver: to,
    build: () => [{ instructions: buildRescueCalls(holding, account, to) }],
  });
}

function describeNested(holding: NestedHolding, context: RowContext): Row {
  const { account } = context;
  const inbox = holding.recoverable.inbox.address;
  const action: Action = {
    label: "Return to the inbox",
    effect: `Sends it to ${inbox}. Then it can leave like the other balances.`,
    build: () => [{ instructions: buildUnnestCalls(holding, account ?? noKey) }],
  };
  return {
    title: formatAmount(holding, context),
    place: `mint ${holding.mint}, sent to the token account of ${nameOf(holding.recoverable)} as if that were a wallet`,
    notes: account === undefined ? [ANYONE] : [],
    actions: account === undefined ? [] : [action],
  };
}

function describeLamports(found: InboxLamports, { inspection, account, receiver }: RowContext): Row[] {
  const { recovery, rentRecipient } = found.recoverable.inbox.terms;
  const rescuable = rescuableLamports(found, inspection.timestamp);
  const reclaimable = account === rentRecipient ? reclaimableLamports(found) : 0n;
  const title = (units: bigint) => `${formatUnits(units, SOL_DECIMALS)} SOL`;
  const place = `in ${nameOf(found.recoverable)}`;
  const to = receiver ?? account ?? noKey;
  const rescue: Action = {
    label: "Rescue the SOL",
    effect: `Sends ${title(rescuable)} to the wallet ${to}.`,
    receiver: to,
    build: () => [{ instructions: buildRescueLamportsCalls(found, to) }],
  };
  const reclaim: Action = {
    label: "Take the rent back",
    effect: `Sends ${title(reclaimable)} to your wallet, which is the rent recipient of the terms.`,
    build: () => [{ instructions: buildReclaimCalls(found) }],
  };
  const isRecovery = recovery === account;
  return [
    ...(rescuable === 0n
      ? []
      : [
          {
            title: title(rescuable),
            place,
            notes: isRecovery ? [] : [`Connect the recovery key ${recovery} to rescue it.`],
            actions: isRecovery ? [rescue] : [],
          },
        ]),
    ...(reclaimable === 0n ? [] : [{ title: title(reclaimable), place, notes: [], actions: [reclaim] }]),
  ];
}

function formatAmount(
  { mint, units }: { readonly mint: string; readonly units: bigint },
  { decimals }: Pick<RowContext, "decimals">,
): string {
  const amount = formatUnits(units, decimals.get(mint) ?? 0);
  return `${amount} ${USDC_MINTS.includes(mint) ? "USDC" : amount === "1" ? "token" : "tokens"}`;
}

function nameOf({ intentId, inbox }: RecoverableInbox): string {
  return `${inbox.address}${intentId === undefined ? "" : ` of ${intentId}`}`;
}
