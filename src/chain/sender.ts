import type { Route } from "@tributary/inbox/routes";
import type { SolanaHopTerms, SolanaPayTerms } from "@tributary/inbox/solana/terms";
import type { Hex, Terms } from "@tributary/inbox/terms";
import type { Logger } from "pino";
import type { ChainConfig } from "../config/config.ts";
import type { Db, Tx } from "../db/database.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Entropy } from "../kernel/entropy.ts";
import type { TokenProblem } from "./tokenProblems.ts";

// A sender moves settlements on one chain, of any kind, and pays their fees. It can move a deposit only to its payout.
// It never signs a rescue, which belongs to the merchant.

/** One inbox to settle in one token. */
export type SettleItem = {
  inbox: string;
  token: string;
  /** The contract or program that settles the inbox. */
  hub: string;
  /** The terms that the inbox address commits to, in the form of its kind of chain. */
  terms: Terms | SolanaPayTerms | SolanaHopTerms;
  /** The program that owns the token, on kinds of chains where several can. */
  tokenProgram?: string | undefined;
};

/**
 * One inbox whose balance of a token a bridge carries to the settle chain, over a route that its address commits to.
 */
export type BurnItem = SettleItem & { way: BurnWay };

/**
 * `leaf`: a route of the root in the terms, with the proof that leads there. `hop`: one of the routes in the terms of
 * an inbox on Solana, by its number.
 */
export type BurnWay = { kind: "leaf"; route: Route; routeProof: readonly Hex[] } | { kind: "hop"; route: 0 | 1 };

/** One inbox to which a bridge gives units, to settle with them at once. */
export type MintItem = SettleItem & {
  message: string;
  attestation: string;
  /** The mint's own number. */
  mint: string;
};

/**
 * What receiving would do now. `received`: it was received before, and nothing is left to settle. `expired`: it needs a
 * new proof. `unproven`: the bridge refuses the proof, with its words. `refused`: the chain refuses everything else,
 * with its words.
 */
export type MintOutlook = { kind: "moves" | "received" | "expired" } | { kind: "unproven" | "refused"; reason: string };

/** A burn's transaction, and its message as the bridge signed it. */
export type BurnProofOnChain = { chainTx: string; message: string; attestation: string };

/** The part of a sender that crosses bridges. */
export interface BridgeSender {
  /** Why the bridge would not take the inbox's balance now; undefined where it would. */
  burnRefusal(item: BurnItem): Promise<string | undefined>;
  /** Prices a transaction as ChainSender.prepare does. Throws PayerRefused. */
  prepareBurn(world: BurnWorld, item: BurnItem): Promise<PreparedSettlement | undefined>;
  mintOutlook(item: MintItem): Promise<MintOutlook>;
  /**
   * Prices the next transaction that receives or settles, as ChainSender.prepare does. Kinds of chains differ in how
   * many it takes.
   */
  prepareMint(world: SenderWorld, item: MintItem): Promise<PreparedMint | undefined>;
  /**
   * Prices the transaction that returns what a landed burn of ours locked; "none" where nothing is locked. Absent where
   * burns lock nothing. Throws SettleRefused.
   */
  prepareReclaim?(world: SenderWorld, burn: BurnProofOnChain): Promise<PreparedTransaction | "none" | undefined>;
  /** Between two looks at a crossing whose transaction is under way, in milliseconds. */
  readonly lookMs: number;
  /** The most work that one transaction of the chain may do, in the measure of PreparedMint. */
  readonly workMax: bigint;
}

export type SenderWorld = { readonly db: Db; readonly clock: Clock; readonly log: Logger };

/** Burns create accounts with keys of their own on some kinds of chains. */
export type BurnWorld = SenderWorld & { readonly entropy: Entropy };

/** A priced, unsigned transaction. */
export type PreparedTransaction = {
  /**
   * Signs and stores it in the caller's transaction, and returns the outgoing transaction's id. Makes no provider
   * request.
   */
  store(tx: Tx, at: Date): Promise<bigint>;
};

/** A priced, unsigned transaction that would settle some items. */
export type PreparedSettlement = PreparedTransaction;

/**
 * A priced, unsigned transaction that would receive. `work`: the chain's measure of what it may do. `fee`: what
 * receiving and settling cost at the present price, in the smallest unit of the chain's native coin. `isOpening`: it
 * only creates the account in which the inbox receives.
 */
export type PreparedMint = PreparedTransaction & { work: bigint; fee: bigint; isOpening?: boolean };

/** The account in which an inbox receives its token, by the chain's final state. */
export type InboxAccount = {
  /** What it holds; undefined where there is no account. */
  readonly units: bigint | undefined;
  /** Why no settlement would close the account, or only by creating another one; undefined where one would. */
  readonly obstacle: string | undefined;
};

/** The part of a sender that creates the accounts in which inboxes receive a token, and closes them again. */
export interface AccountSender {
  /**
   * What one account would lock now until it is closed, rounded up, in the smallest unit of the chain's native coin.
   */
  rent(): Promise<bigint>;
  /** How many accounts one transaction creates at most. */
  readonly batchMax: number;
  /** Whether the payer gets back what it locks for the item's account. */
  returnsRent(item: SettleItem, at: Date): boolean;
  inspect(items: readonly SettleItem[]): Promise<InboxAccount[]>;
  /**
   * Prices one transaction that creates the accounts, as ChainSender.prepare does. An account that exists stays
   * unchanged. Throws SettleRefused.
   */
  prepareOpen(world: SenderWorld, items: readonly SettleItem[]): Promise<PreparedTransaction | undefined>;
  /**
   * Prices one transaction that settles the items of one batch and creates nothing. Closes their accounts. Throws
   * SettleRefused.
   */
  prepareClose(world: SenderWorld, items: readonly SettleItem[]): Promise<PreparedTransaction | undefined>;
}

/**
 * An account that pays fees needs more below this many settlements: an alarm says so, and nothing but settlements is
 * paid.
 */
export const SETTLEMENTS_AHEAD = 50n;

export interface ChainSender {
  /** The address that pays fees. Empty in a command that does not know it. */
  readonly payer: string;
  /** Undefined where no bridge is used. */
  readonly bridge?: BridgeSender | undefined;
  /** Undefined where an inbox needs no account to receive a token. */
  readonly accounts?: AccountSender | undefined;
  /** One key for each item, in order. Items with the same key may share a transaction. */
  batchKeys(items: readonly SettleItem[]): string[];
  /** Whether the chain's fees are within the configured ceiling. Logs an alarm when they begin to exceed it. */
  isWithinFeeCeiling(world: SenderWorld): Promise<boolean>;
  /**
   * Why each item would not settle now; undefined where it would. One provider's refusal does not count where another
   * lets the item settle. Throws SettleRefused when the chain refuses the items together.
   */
  refusals(items: readonly SettleItem[]): Promise<(string | undefined)[]>;
  /**
   * Prices one transaction for the items of one batch; undefined while the fees exceed the ceiling. Throws
   * SettleRefused when the chain would refuse it.
   */
  prepare(world: SenderWorld, items: readonly SettleItem[]): Promise<PreparedSettlement | undefined>;
  /**
   * Advances every stored transaction. Broadcasts its bytes until a block includes them, and raises low fees. Closes it
   * when its block is final or it can no longer be mined.
   */
  process(world: SenderWorld): Promise<void>;
  /**
   * Deletes the signed bytes of closed transactions, in the caller's transaction. Their rows stay. They never open
   * again.
   */
  deleteBytes(tx: Tx, closed: { ids: readonly bigint[]; at: Date }): Promise<void>;
  /** The payer's balance for fees, in the smallest unit of the chain's native coin. */
  feeBalance(): Promise<bigint>;
  /**
   * The fee of one settlement at the present price, rounded up generously, in the smallest unit of the chain's native
   * coin: what the payer must hold, so that a transaction is taken.
   */
  settlementFee(): Promise<bigint>;
  /** What one first settlement takes of it, about. Absent: all. */
  settlementCost?(): Promise<bigint>;
  /** The present fees beside their ceiling, in one line for the operator. */
  feeStatus(): Promise<{ isWithinCeiling: boolean; text: string }>;
  /**
   * Reads the configured tokens again, and finds what their issuers changed since the start. Absent on kinds of chains
   * where tokens have no such settings. Throws ProviderFailed.
   */
  checkTokens?(config: ChainConfig): Promise<readonly TokenProblem[]>;
  /**
   * Verifies the chain's requirements for settling. Throws ChainMismatch, with one sentence, when something is missing.
   */
  verify(config: ChainConfig): Promise<void>;
}

/** The chain refuses what this service's payer sends, and would take the same from anybody else. */
export class PayerRefused extends Error {
  override readonly name = "PayerRefused";
}

/** The chain would refuse to settle these items together: fewer items may settle. */
export class SettleRefused extends Error {
  override readonly name = "SettleRefused";
}
