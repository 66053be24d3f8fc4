import type { Terms } from "@tributary/inbox/terms";
import type { Logger } from "pino";
import type { ChainConfig } from "../config/config.ts";
import type { Db, Tx } from "../db/database.ts";
import type { Clock } from "../kernel/clock.ts";

// A sender moves settlements on one chain, of whatever kind, and pays their fees. It can move no deposit anywhere but to its payout, and
// it never signs a rescue: that is the merchant's.

/** One inbox to settle in one token. */
export type SettleItem = {
  inbox: string;
  token: string;
  /** The contract or program that settles the inbox. */
  hub: string;
  /** What the inbox address commits to. */
  terms: Terms;
};

export type SenderWorld = { readonly db: Db; readonly clock: Clock; readonly log: Logger };

/** A transaction that would settle some items: priced, not signed. */
export type PreparedSettlement = {
  /** Signs and stores it in the caller's transaction, and returns the id of the outgoing transaction. It calls no provider. */
  store(tx: Tx, at: Date): Promise<bigint>;
};

export interface ChainSender {
  /** The address that pays fees. */
  readonly payer: string;
  /** Items with the same key may share a transaction. */
  batchKey(item: SettleItem): string;
  /**
   * For each item why it would not settle now; undefined where it would. One provider's refusal is no refusal where another one lets the
   * item settle. Throws SettleRefused when the chain refuses the items together.
   */
  refusals(items: readonly SettleItem[]): Promise<(string | undefined)[]>;
  /** Prices one transaction for items of one batch key. Throws SettleRefused when the chain would refuse it. */
  prepare(world: SenderWorld, items: readonly SettleItem[]): Promise<PreparedSettlement>;
  /**
   * Takes every stored transaction one step on: broadcasts its bytes again until a block has them, pays more where a fee is too low, and
   * closes it when its block is final or it can no longer be mined.
   */
  process(world: SenderWorld): Promise<void>;
  /** What the payer holds for fees, in the smallest unit of the chain's native coin. */
  feeBalance(): Promise<bigint>;
  /** Compares what settling needs with the chain. Throws ChainMismatch, in one sentence, when something is missing. */
  verify(config: ChainConfig): Promise<void>;
}

/** The chain would refuse to settle these items together: asking again now changes nothing, fewer items may settle. */
export class SettleRefused extends Error {
  override readonly name = "SettleRefused";
}
