import { changedFields } from "../event/changedFields.ts";
import type { Tx } from "../db/database.ts";
import { appendEvents } from "../event/store.ts";
import { caip19, caip2, type Namespace } from "../kernel/caip.ts";
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
import { findOtherDefault, type NamespaceDefault } from "./namespaceDefault.ts";
import { lockAccount, updateAccountRow, type AccountRow } from "./store.ts";

/** A missing field stays as it is. A recovery key of null is the payout wallet, `origins` null is every origin. */
export type AccountChange = Partial<Omit<NewAccount, "recovery" | "solanaRecovery">> & {
  recovery?: string | null;
  solanaRecovery?: string | null;
  /** The default destination on an EVM chain, where the account's own is elsewhere; null removes it. */
  evmDefault?: NamespaceDefault | null;
  /** The same on Solana. */
  solanaDefault?: NamespaceDefault | null;
  /** Ids of origins, such as `base:usdc`. At least one. */
  origins?: readonly string[] | null;
  /** How many times the limits of every account its rate limits are, from 1. */
  limitMultiple?: number;
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
  const result = await world.db.transaction((tx) => changeAccount(tx, world, { accountId, change }));
  clearKeyCache(world);
  return result;
}

/** As `updateAccount`, in the caller's transaction. The caller then clears the cache of keys. */
export async function changeAccount(
  tx: Tx,
  world: UpdateWorld,
  { accountId, change }: { accountId: string; change: AccountChange },
): Promise<{ before: AccountRow; after: AccountRow }> {
  const { before, columns } = await checkAccountChange(tx, world, { accountId, change });
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
}

/** Locks the account and checks a change without making it. Throws as `updateAccount`. */
export async function checkAccountChange(
  tx: Tx,
  world: UpdateWorld,
  { accountId, change }: { accountId: string; change: AccountChange },
): Promise<{ before: AccountRow; columns: Partial<AccountRow> }> {
  const columns = toColumns(world, change);
  const before = await lockAccount(tx, accountId);
  if (before === undefined) throw new Fault("not_found", { message: "No such account." });
  rejectSecondDefault({ ...before, ...columns });
  return { before, columns };
}

/** An account has one default a namespace: keys that are bound to the namespace must not choose between two. */
function rejectSecondDefault(account: AccountRow): void {
  const { payout_namespace: namespace } = account;
  if (namespace === null || findOtherDefault(account, namespace) === undefined) return;
  const [place, option] = namespace === "solana" ? ["Solana", "--solana-wallet"] : ["an EVM chain", "--evm-wallet"];
  throw new Fault("invalid_request", {
    param: "payout",
    message: `The account's own default is on ${place}, and it has one default there: change that one by --chain and --wallet, or remove the other by ${option} none.`,
  });
}

/** Validated as any default destination is, for the first coin of the chain that is paid out. */
function requireDefault(
  world: UpdateWorld,
  namespace: Namespace,
  given: NamespaceDefault | null,
): NamespaceDefault | undefined {
  if (given === null) return undefined;
  const chain = caip2(namespace, given.chainReference);
  const currency = world.catalog.assets.find((asset) => asset.chain === chain && asset.isRail)?.symbol ?? "";
  return validatePayout(world, { namespace, ...given, currency });
}

function toDefaultColumns(world: UpdateWorld, { evmDefault, solanaDefault }: AccountChange) {
  const evm = evmDefault === undefined ? undefined : requireDefault(world, "eip155", evmDefault);
  const solana = solanaDefault === undefined ? undefined : requireDefault(world, "solana", solanaDefault);
  return {
    ...(evmDefault === undefined
      ? {}
      : { evm_default_reference: evm?.chainReference ?? null, evm_default_wallet: evm?.wallet ?? null }),
    ...(solanaDefault === undefined
      ? {}
      : { solana_default_reference: solana?.chainReference ?? null, solana_default_wallet: solana?.wallet ?? null }),
  };
}

function toColumns(world: UpdateWorld, change: AccountChange) {
  const { name, feeBps, underpayToleranceBps, recovery, solanaRecovery, payout, origins, limitMultiple } = change;
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
    ...(limitMultiple === undefined ? {} : { limit_multiple: limitMultiple }),
    ...toDefaultColumns(world, change),
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
