import type { Chain } from "../chain/chain.ts";
import { afterTransaction } from "./primedAccount.ts";
import { changeUnlocked, listAfterTransaction } from "./store.ts";
import type { PrimingWorld } from "./submitBatch.ts";

/** Accounts moved on per call: as many as may be open. */
const MOVED_MAX = 200;

/** Moves on the accounts whose transaction has closed. Makes no provider request. */
export async function followTransactions({ db, clock }: PrimingWorld, { caip2: chain }: Chain): Promise<void> {
  for (const { row, transaction } of await listAfterTransaction(db, { chain, limit: MOVED_MAX }))
    await changeUnlocked(db, row, afterTransaction(row.status, transaction, clock.now()));
}
