import type { Logger } from "pino";
import type { Db } from "../../../db/database.ts";
import type { Clock } from "../../../kernel/clock.ts";
import type { Chain } from "../../chain.ts";
import type { ChainDriver, ChainReceipt } from "../../driver.ts";
import type { OutgoingTransaction, OutgoingAttempt } from "./outgoingStore.ts";

// What those share that look after a chain's sendings.

export type OutgoingWorld = { readonly db: Db; readonly clock: Clock; readonly log: Logger };

export type ChainAccess = { chain: Chain; driver: ChainDriver };

/** A sending that is not closed, with its attempts, newest first. */
export type OpenOutgoing = {
  transaction: OutgoingTransaction;
  attempts: OutgoingAttempt[];
  /** Whether its nonce is the one that the chain waits for: nothing behind it can be mined before it. */
  isNext: boolean;
};

export async function findReceipt(
  driver: ChainDriver,
  attempts: readonly OutgoingAttempt[],
): Promise<ChainReceipt | undefined> {
  for (const attempt of attempts) {
    const receipt = await driver.receipt(attempt.chain_tx);
    if (receipt) return receipt;
  }
  return undefined;
}
