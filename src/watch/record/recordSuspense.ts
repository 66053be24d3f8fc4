import type { Tx } from "../../db/database.ts";
import type { Caip2 } from "../../kernel/caip.ts";
import { writeSuspended } from "../store/unmatchedMintStore.ts";
import { bookRevision } from "../store/bookMovements.ts";
import { claimRevision, writeSuspense } from "../store/store.ts";

type SuspenseChange = {
  chain: Caip2;
  isSuspended: boolean;
  at: Date;
  /** Selects the mints under the cursor's lock, with the locks that their intents need. */
  lockMints: () => Promise<readonly bigint[]>;
};

/** Puts mints in suspense or takes them out, and books them anew. Locks the cursor first, as every recorder does. */
export async function recordSuspense(tx: Tx, { chain, isSuspended, at, lockMints }: SuspenseChange): Promise<void> {
  const cursor = await claimRevision(tx, chain);
  if (cursor === undefined) return;
  const mintIds = await lockMints();
  if (mintIds.length === 0) return;
  await writeSuspense(tx, mintIds, { in_suspense: isSuspended, revision: cursor.revision });
  await writeSuspended(tx, mintIds, isSuspended ? at : undefined);
  await bookRevision(tx, { chain, cursor, at });
}
