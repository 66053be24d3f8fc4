import { cctpMessenger, deriveCctpAccounts } from "@tributary/inbox/solana/cctp";
import { deriveTokenAccount } from "@tributary/inbox/solana/derive";
import {
  buildBridge,
  buildReclaim,
  buildRescue,
  buildRescueLamports,
  buildSettle,
  buildUnnest,
  readonlyMeta,
  writableMeta,
  writableSignerMeta,
} from "@tributary/inbox/solana/instructions";
import type { SolanaInstruction } from "@tributary/inbox/solana/instructions";
import { associatedTokenProgram, noKey, systemProgram } from "@tributary/inbox/solana/keys";
import { lamportsPrimed, lamportsRentEnd } from "@tributary/inbox/solana/lamportBounds";
import type { SolanaHopTerms, SolanaRoute } from "@tributary/inbox/solana/terms";
import type { InboxLamports, NestedHolding, SolanaHolding } from "./inspectSolana.ts";

/** The possible recovery of one token account. */
export type SolanaRecoveryPlan =
  /** Anyone may send it: to the payout wallet, less the fee. */
  | { readonly kind: "settle" }
  /** Anyone may send it: to the intent's inbox on the other chain. */
  | { readonly kind: "bridge"; readonly routes: readonly SolanaHopRoute[] }
  /** The bridge does not take it now. */
  | { readonly kind: "unbridgeable"; readonly reason: "minimum" | "messenger" | "routes" }
  /** Only the recovery key may send it. It chooses the recipient. */
  | {
      readonly kind: "rescue";
      readonly sender: string;
      readonly allowedFromSeconds: number;
      readonly isAllowed: boolean;
    }
  /** The inbox has no recovery key, so nothing moves this. */
  | { readonly kind: "none" };

/** A route of an inbox over Circle's bridge. */
export type SolanaHopRoute = {
  readonly speed: "fast" | "standard";
  /** Its option in the instruction. */
  readonly number: 0 | 1;
  readonly feePpmMax: number;
};

/** How a token account can leave its inbox now. It mirrors the program, which decides in the end. */
export function planSolanaRecovery(holding: SolanaHolding, timestamp: number): SolanaRecoveryPlan {
  const { terms } = holding.recoverable.inbox;
  if (!holding.isPinned) return planSolanaRescue(holding, timestamp);
  return terms.kind === "pay" ? { kind: "settle" } : planHop(terms, holding.units);
}

function planHop(terms: SolanaHopTerms, units: bigint): SolanaRecoveryPlan {
  // The program refuses the accounts of Circle's messenger for another one, which would run with the payer's signature.
  if (terms.messenger !== cctpMessenger) return { kind: "unbridgeable", reason: "messenger" };
  const routes = listRoutes(terms);
  if (routes.length === 0) return { kind: "unbridgeable", reason: "routes" };
  return units < terms.minAmount ? { kind: "unbridgeable", reason: "minimum" } : { kind: "bridge", routes };
}

/** The standard route first: it is the cheap one. */
function listRoutes({ routes: [fast, standard] }: SolanaHopTerms): SolanaHopRoute[] {
  const exists = ({ finalityThreshold }: SolanaRoute) => finalityThreshold !== 0;
  return [
    ...(exists(standard) ? [{ speed: "standard", number: 1, feePpmMax: standard.feePpmMax } as const] : []),
    ...(exists(fast) ? [{ speed: "fast", number: 0, feePpmMax: fast.feePpmMax } as const] : []),
  ];
}

/** The fallback: the pinned mint from `recoverAfter` on, everything else at once. */
export function planSolanaRescue(
  { recoverable, isPinned }: Pick<SolanaHolding, "recoverable" | "isPinned">,
  timestamp: number,
): SolanaRecoveryPlan {
  const { recovery, recoverAfter } = recoverable.inbox.terms;
  if (recovery === noKey) return { kind: "none" };
  const allowedFromSeconds = isPinned ? recoverAfter : 0;
  return { kind: "rescue", sender: recovery, allowedFromSeconds, isAllowed: timestamp >= allowedFromSeconds };
}

/** As many as fit into one transaction beside the call that creates the payout account. */
const SETTLEMENTS_MAX = 7;

/** Splits holdings into batches that one transaction settles: of equal terms but for the salt. */
export function batchSolanaSettlements(holdings: readonly SolanaHolding[]): SolanaHolding[][] {
  const groups = Map.groupBy(holdings, ({ recoverable: { inbox } }) =>
    [inbox.program, inbox.tokenProgram, inbox.termsHash].join(),
  );
  return [...groups.values()].flatMap((group) =>
    Array.from({ length: Math.ceil(group.length / SETTLEMENTS_MAX) }, (_, index) =>
      group.slice(index * SETTLEMENTS_MAX, (index + 1) * SETTLEMENTS_MAX),
    ),
  );
}

/** Settles the token accounts of one batch; `payer` creates the payout account if it is missing. */
export function buildSettleCalls(batch: readonly SolanaHolding[], payer: string): SolanaInstruction[] {
  const inboxes = batch.map(({ recoverable, tokenAccount }) => ({ ...recoverable.inbox, tokenAccount }));
  const [first] = inboxes;
  if (first?.terms.kind !== "pay") throw new RangeError("only inboxes of kind pay are settled");
  const { payout, mint, rentRecipient } = first.terms;
  return [
    buildCreateTokenAccount({ payer, owner: payout, mint, tokenProgram: first.tokenProgram }),
    buildSettle(inboxes, { rentRecipient: payer === rentRecipient }),
  ];
}

export type BridgeCall = {
  readonly payer: string;
  /** A new key, which signs too. */
  readonly event: string;
  readonly route: SolanaHopRoute;
};

/** Bridges one token account. */
export function buildBridgeCalls(holding: SolanaHolding, { payer, event, route }: BridgeCall): SolanaInstruction[] {
  const { inbox } = holding.recoverable;
  if (inbox.terms.kind !== "hop") throw new RangeError("only an inbox of kind hop is bridged");
  const { mint, domain } = inbox.terms;
  const cctp = deriveCctpAccounts({ mint, domain, sender: inbox.address });
  const from = { ...inbox, tokenAccount: holding.tokenAccount };
  return [buildBridge(from, { cctp, payer, event, route: route.number })];
}

/** Rescues one token account to the associated token account of `to`. */
export function buildRescueCalls(holding: SolanaHolding, payer: string, to: string): SolanaInstruction[] {
  const { recoverable, tokenAccount, mint, tokenProgram } = holding;
  const destination = deriveTokenAccount(to, mint, tokenProgram).address;
  return [
    buildCreateTokenAccount({ payer, owner: to, mint, tokenProgram }),
    buildRescue({ ...recoverable.inbox, tokenProgram }, { tokenAccount, mint, destination }),
  ];
}

/** How many lamports the recovery key may withdraw now. It mirrors the program, which decides in the end. */
export function rescuableLamports({ recoverable, lamports }: InboxLamports, timestamp: number): bigint {
  const { recovery, recoverAfter } = recoverable.inbox.terms;
  if (recovery === noKey) return 0n;
  if (timestamp >= recoverAfter) return lamports;
  return lamports < lamportsRentEnd ? 0n : lamports - lamportsPrimed;
}

/** How many lamports the rent recipient may take back now; more are the recovery key's. */
export function reclaimableLamports({ lamports }: InboxLamports): bigint {
  return lamports < lamportsRentEnd ? lamports : 0n;
}

/** Returns the rent of an inbox; the rent recipient signs. */
export function buildReclaimCalls({ recoverable }: InboxLamports): SolanaInstruction[] {
  return [buildReclaim(recoverable.inbox)];
}

/** Withdraws the coins of an inbox; the recovery key signs. */
export function buildRescueLamportsCalls({ recoverable }: InboxLamports, to: string): SolanaInstruction[] {
  return [buildRescueLamports(recoverable.inbox, to)];
}

/** Returns nested tokens to the inbox; `payer` creates the accounts that are missing. */
export function buildUnnestCalls({ recoverable, mint }: NestedHolding, payer: string): SolanaInstruction[] {
  const { inbox } = recoverable;
  const owned = { payer, owner: inbox.address, tokenProgram: inbox.tokenProgram };
  return [
    buildCreateTokenAccount({ ...owned, mint: inbox.terms.mint }),
    buildCreateTokenAccount({ ...owned, mint }),
    buildUnnest(inbox, mint),
  ];
}

type TokenAccountCall = {
  readonly payer: string;
  readonly owner: string;
  readonly mint: string;
  readonly tokenProgram: string;
};

/** Creates an associated token account, and does nothing when it exists. */
export function buildCreateTokenAccount({ payer, owner, mint, tokenProgram }: TokenAccountCall): SolanaInstruction {
  return {
    program: associatedTokenProgram,
    accounts: [
      writableSignerMeta(payer),
      writableMeta(deriveTokenAccount(owner, mint, tokenProgram).address),
      readonlyMeta(owner),
      readonlyMeta(mint),
      readonlyMeta(systemProgram),
      readonlyMeta(tokenProgram),
    ],
    data: Uint8Array.of(1),
  };
}
