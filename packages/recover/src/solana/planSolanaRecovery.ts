import { deriveCctpAccounts } from "@tributary/inbox/solana/cctp";
import { deriveTokenAccount } from "@tributary/inbox/solana/derive";
import {
  buildBridge,
  buildRescue,
  buildSettle,
  readonlyMeta,
  writableMeta,
  writableSignerMeta,
} from "@tributary/inbox/solana/instructions";
import type { SolanaInstruction } from "@tributary/inbox/solana/instructions";
import { associatedTokenProgram, noKey, systemProgram } from "@tributary/inbox/solana/keys";
import type { SolanaHolding } from "./inspectSolana.ts";

/** The possible recovery of one token account. */
export type SolanaRecoveryPlan =
  /** Anyone may send it: to the payout wallet, less the fee. */
  | { readonly kind: "settle" }
  /** Anyone may send it: to the intent's inbox on the other chain. */
  | { readonly kind: "bridge" }
  /** Only the recovery key may send it. It chooses the recipient. */
  | {
      readonly kind: "rescue";
      readonly sender: string;
      readonly allowedFromSeconds: number;
      readonly isAllowed: boolean;
    }
  /** The inbox has no recovery key, so nothing moves this. */
  | { readonly kind: "none" };

/** How a token account can leave its inbox now. It mirrors the program, which decides in the end. */
export function planSolanaRecovery({ recoverable, isPinned }: SolanaHolding, timestamp: number): SolanaRecoveryPlan {
  if (isPinned) return { kind: recoverable.inbox.terms.kind === "pay" ? "settle" : "bridge" };
  return planSolanaRescue({ recoverable, isPinned }, timestamp);
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

/** Settles one token account; `payer` creates the payout account if it is missing. */
export function buildSettleCalls({ recoverable, tokenAccount }: SolanaHolding, payer: string): SolanaInstruction[] {
  const { inbox } = recoverable;
  if (inbox.terms.kind !== "pay") throw new RangeError("only an inbox of kind pay is settled");
  const { payout, mint } = inbox.terms;
  const signs = payer === inbox.terms.rentRecipient;
  return [
    buildCreateTokenAccount({ payer, owner: payout, mint, tokenProgram: inbox.tokenProgram }),
    buildSettle([{ ...inbox, tokenAccount }], { rentRecipient: signs }),
  ];
}

/** Bridges one token account. `event` is a new key, which signs too. */
export function buildBridgeCalls(holding: SolanaHolding, payer: string, event: string): SolanaInstruction[] {
  const { inbox } = holding.recoverable;
  if (inbox.terms.kind !== "hop") throw new RangeError("only an inbox of kind hop is bridged");
  const { mint, domain, routes } = inbox.terms;
  const cctp = deriveCctpAccounts({ mint, domain, sender: inbox.address });
  // The standard route is the cheap one; an inbox may have only one of the two.
  const route = routes[1].finalityThreshold === 0 ? 0 : 1;
  return [buildBridge({ ...inbox, tokenAccount: holding.tokenAccount }, { cctp, payer, event, route })];
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

type TokenAccountCall = {
  readonly payer: string;
  readonly owner: string;
  readonly mint: string;
  readonly tokenProgram: string;
};

/** Creates an associated token account, and does nothing when it exists. */
function buildCreateTokenAccount({ payer, owner, mint, tokenProgram }: TokenAccountCall): SolanaInstruction {
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
