import { changedFields } from "../event/changedFields.ts";
import { appendEvents } from "../event/store.ts";
import { caip19, caip2 } from "../kernel/caip.ts";
import { Fault } from "../kernel/faults.ts";
import type { World } from "../world.ts";
import { toAccountRecord } from "./accountRecord.ts";
import {
  requireFeeBps,
  requireName,
  requireRecovery,
  requireSolanaRecovery,
  requireToleranceBps,
  validatePayout,
  type NewAccount,
} from "./createAccount.ts";
import { clearKeyCache } from "./keys/keyCache.ts";
import { lockAccount, updateAccountRow, type AccountRow } from "./store.ts";

/** A missing field stays as it is. A recovery key of null is the payout wallet, `origins` null is every origin. */
export type AccountChange = Partial<Omit<NewAccount, "recovery" | "solanaRecovery">> & {
  recovery?: string | null;
  solanaRecovery?: string | null;
  /** The default destination of keys that are bound to Solana. */
  solanaDefault?: { chainReference: string; wallet: string };
  /** Ids of origins, such as `base:usdc`. At least one. */
  origins?: readonly string[] | null;
};

type UpdateWorld = Pick<World, "db" | "clock" | "entropy" | "catalog" | "chains" | "memory">;

/**
 * Changes an account and appends the event `account.updated`. Existing intents keep what they pinned. It takes effect
 * in every process within a second. Throws invalid_request that names the field, or not_found.
 */
export async function updateAccount(
  world: UpdateWorld,
  { accountId, change }: { accountId: string; change: AccountChange },
): Promise<{ before: AccountRow; after: AccountRow }> {
  const columns = toColumns(world, change);
  const result = await world.db.transaction(async (tx) => {
    const before = await lockAccount(tx, accountId);
    if (before === undefined) throw new Fault("not_found", { message: "No such account." });
    if (Object.keys(columns).length === 0) return { before, after: before };
    const after = await updateAccountRow(tx, { id: accountId, change: columns });
    const object = toAccountRecord(after);
    const event = {
      type: "account.updated",
      accountId,
      intentNumber: null,
      livemode: after.environment === "live",
      object,
      previous: changedFields(toAccountRecord(before), object),
    } as const;
    await appendEvents(tx, world, { events: [event], at: world.clock.now() });
    return { before, after };
  });
  clearKeyCache(world);
  return result;
}

/** Validated as any default destination is, for the first coin of the chain that is paid out. */
function toSolanaDefault(world: UpdateWorld, { chainReference, wallet }: { chainReference: string; wallet: string }) {
  const chain = caip2("solana", chainReference);
  const currency = world.catalog.assets.find((asset) => asset.chain === chain && asset.isRail)?.symbol ?? "";
  const valid = validatePayout(world, { namespace: "solana", chainReference, wallet, currency });
  return { solana_default_reference: valid.chainReference, solana_default_wallet: valid.wallet };
}

function toColumns(world: UpdateWorld, change: AccountChange) {
  const { name, feeBps, underpayToleranceBps, recovery, solanaRecovery, solanaDefault, payout, origins } = change;
  const valid = payout === undefined ? undefined : validatePayout(world, payout);
  return {
    ...(name === undefined ? {} : { name: requireName(name) }),
    ...(feeBps === undefined ? {} : { fee_bps: requireFeeBps(feeBps) }),
    ...(underpayToleranceBps === undefined
      ? {}
      : { underpay_tolerance_bps: requireToleranceBps(underpayToleranceBps) }),
    ...(recovery === undefined ? {} : { recovery: recovery === null ? null : requireRecovery(recovery) }),
    ...(solanaRecovery === undefined
      ? {}
      : { solana_recovery: solanaRecovery === null ? null : requireSolanaRecovery(world, solanaRecovery) }),
    ...(solanaDefault === undefined ? {} : toSolanaDefault(world, solanaDefault)),
    ...(origins === undefined ? {} : { origins: origins === null ? null : requireOrigins(world, origins) }),
    ...(valid === undefined
      ? {}
      : {
          payout_namespace: valid.namespace,
          payout_chain_reference: valid.chainReference,
          payout_wallet: valid.wallet,
          currency: valid.currency,
        }),
  };
}

function requireOrigins({ catalog }: UpdateWorld, names: readonly string[]): string[] {
  const origins = catalog.assets.filter(({ isOrigin }) => isOrigin);
  const known = `one or more of ${origins.map(({ railId }) => railId).join(", ")}`;
  const ids = names.map((name) => {
    const origin = origins.find(({ railId }) => railId === name.toLowerCase());
    if (origin !== undefined) return caip19(origin.chain, origin.token);
    throw new Fault("invalid_request", { param: "origins", message: `origins must be ${known}, not ${name}.` });
  });
  if (ids.length > 0) return [...new Set(ids)];
  throw new Fault("invalid_request", { param: "origins", message: `origins must be ${known}.` });
}
