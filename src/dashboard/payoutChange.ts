import type { Tx } from "../db/database.ts";
import { appendEvents } from "../event/store.ts";
import { caip2, displayAddress } from "../kernel/caip.ts";
import { addMs } from "../kernel/clock.ts";
import { Fault } from "../kernel/faults.ts";
import { newId } from "../kernel/ids.ts";
import { clearKeyCache } from "../merchant/keys/keyCache.ts";
import { findAccount, lockAccount, type AccountRow } from "../merchant/store.ts";
import { changeAccount, checkAccountChange, type AccountChange } from "../merchant/updateAccount.ts";
import type { World } from "../world.ts";
import { appendAudit, type AuditAction } from "./auditStore.ts";
import { isSignedByContract, isSignedByKey } from "./signIn/walletSignature.ts";
import {
  findOpenChange,
  insertChange,
  listDueAccounts,
  updateChange,
  type PayoutChangeRow,
} from "./payoutChangeStore.ts";

// A change of where an account's new intents are paid out is a proposal: the present payout wallet signs it, it waits,
// and any member can stop it meanwhile. Intents that exist keep what they pinned, whatever happens here.

type ChangeWorld = Pick<World, "db" | "clock" | "entropy" | "catalog" | "chains" | "memory" | "config">;

const HOUR_MS = 3_600_000;
const LIVE_HOURS = 48;
/** Changes that one round applies. */
const ROUND_MAX = 100;

/** What a proposal may change. */
export type PayoutTerms = Pick<
  AccountChange,
  "payout" | "recovery" | "solanaRecovery" | "evmDefault" | "solanaDefault"
>;

export const PAYOUT_TERMS = ["payout", "recovery", "solanaRecovery", "evmDefault", "solanaDefault"] as const;

/** How long a signed change waits. Nothing waits on a test installation unless it is configured. */
export function payoutChangeDelayMs({ payoutChangeDelayHours: hours, environment }: World["config"]): number {
  return (hours ?? (environment === "live" ? LIVE_HOURS : 0)) * HOUR_MS;
}

type Proposal = { accountId: string; change: PayoutTerms };

/**
 * Proposes a change. A member's waits for the signature of the present payout wallet, the operator's does not: he makes it
 * where that wallet cannot sign any more. Throws invalid_request that names the field, not_found, and
 * payout_change_open.
 */
export async function proposePayoutChange(
  world: ChangeWorld,
  { accountId, change }: Proposal,
  actor: string,
): Promise<PayoutChangeRow> {
  const at = world.clock.now();
  return world.db.transaction(async (tx) => {
    const { before, columns } = await checkAccountChange(tx, world, { accountId, change });
    if (Object.keys(columns).length === 0)
      throw new Fault("invalid_request", { param: "change", message: "The change must change something." });
    if ((await findOpenChange(tx, accountId)) !== undefined)
      throw new Fault("invalid_request", {
        param: "change",
        message: "Another change of this account's payout is open: stop it first, or wait until it has taken effect.",
      });
    const isSigned = actor === "operator" || before.payout_wallet === null;
    const row = await insertChange(tx, {
      id: newId("poc", world.entropy),
      account_id: accountId,
      change,
      status: isSigned ? "waiting" : "proposed",
      proposed_by: actor,
      proposed_at: at,
      due_at: isSigned ? addMs(at, payoutChangeDelayMs(world.config)) : null,
    });
    await record(tx, world, { row, account: before, actor, at, step: "proposed" });
    return row;
  });
}

/** What the present payout wallet signs: everything that the change does, in words. */
export function payoutChangeText(world: Pick<World, "config">, row: PayoutChangeRow): string {
  const lines = describeChange(row).map(([name, value]) => `${name}: ${value}`);
  const { host } = new URL(world.config.baseUrl);
  return [
    `${host} asks you to confirm where new payments of ${row.account_id} are paid out.`,
    "",
    ...lines,
    "",
    "Payments that exist keep their payout. Signing costs nothing and sends nothing.",
    "",
    `Proposal: ${row.id}`,
    `Proposed at: ${row.proposed_at.toISOString()}`,
  ].join("\n");
}

/** The change as names and values. */
export function describeChange({ change }: Pick<PayoutChangeRow, "change">): [name: string, value: string][] {
  const { payout, recovery, solanaRecovery, evmDefault, solanaDefault } = change as PayoutTerms;
  const other = (given: PayoutTerms["evmDefault"], namespace: "eip155" | "solana") =>
    given === null || given === undefined
      ? "none"
      : `${displayAddress(caip2(namespace, given.chainReference), given.wallet)} on ${caip2(namespace, given.chainReference)}`;
  return [
    ...(payout === undefined
      ? []
      : ([
          ["Wallet", displayAddress(caip2(payout.namespace, payout.chainReference), payout.wallet)],
          ["Chain", caip2(payout.namespace, payout.chainReference)],
          ["Token", payout.currency],
        ] as [string, string][])),
    ...(recovery === undefined
      ? []
      : ([["Recovery on EVM chains", recovery ?? "the payout wallet"]] as [string, string][])),
    ...(solanaRecovery === undefined
      ? []
      : ([["Recovery on Solana", solanaRecovery ?? "the payout wallet"]] as [string, string][])),
    ...(evmDefault === undefined ? [] : ([["Second default", other(evmDefault, "eip155")]] as [string, string][])),
    ...(solanaDefault === undefined
      ? []
      : ([["Second default", other(solanaDefault, "solana")]] as [string, string][])),
  ];
}

/**
 * Takes the signature of the present payout wallet; the wait begins. Throws not_found without such a proposal, and
 * invalid_request for another signer.
 */
export async function signPayoutChange(
  world: ChangeWorld,
  { accountId, changeId, signature }: { accountId: string; changeId: string; signature: string },
  actor: string,
): Promise<PayoutChangeRow> {
  const at = world.clock.now();
  // The wallet may be a contract, which only the chain can ask.
  const proposed = await findOpenChange(world.db.root, accountId);
  const before = await findAccount(world.db, accountId);
  if (proposed?.id !== changeId || proposed.status !== "proposed" || before === undefined) throw noChange();
  await requireSignature(world, { account: before, row: proposed, signature });
  return world.db.transaction(async (tx) => {
    const { account, row } = await lockOpen(tx, { accountId, changeId });
    const { payout_wallet: wallet } = account;
    const isSame = wallet === before.payout_wallet && account.payout_chain_reference === before.payout_chain_reference;
    if (row.status !== "proposed" || wallet === null || !isSame) throw noChange();
    const dueAt = addMs(at, payoutChangeDelayMs(world.config));
    const signed = await updateChange(tx, row.id, { status: "waiting", signed_by: wallet, due_at: dueAt });
    await record(tx, world, { row: signed, account, actor, at, step: "signed" });
    return signed;
  });
}

/** The text of a proposal never changes, so it may be compared before the proposal is locked. */
async function requireSignature(
  world: ChangeWorld,
  { account, row, signature }: { account: AccountRow; row: PayoutChangeRow; signature: string },
): Promise<void> {
  const { payout_namespace: namespace, payout_chain_reference: reference, payout_wallet: wallet } = account;
  if (namespace === null || reference === null || wallet === null) throw noChange();
  const chain = caip2(namespace, reference);
  const signed = { namespace, wallet, text: payoutChangeText(world, row), signature };
  if ((await isSignedByKey(signed)) || (await isSignedByContract(world, chain, signed))) return;
  throw new Fault("invalid_request", {
    param: "signature",
    message: `signature must be of the present payout wallet, ${displayAddress(chain, wallet)}.`,
  });
}

/** Ends an open change before it takes effect. Throws not_found. */
export async function stopPayoutChange(
  world: ChangeWorld,
  { accountId, changeId }: { accountId: string; changeId: string },
  actor: string,
): Promise<PayoutChangeRow> {
  const at = world.clock.now();
  return world.db.transaction(async (tx) => {
    const { account, row } = await lockOpen(tx, { accountId, changeId });
    const stopped = await updateChange(tx, row.id, { status: "stopped", ended_by: actor, ended_at: at });
    await record(tx, world, { row: stopped, account, actor, at, step: "stopped" });
    return stopped;
  });
}

/** Makes the changes whose time has come, and returns their number. One that the chains no longer allow is stopped. */
export async function applyDueChanges(world: ChangeWorld): Promise<number> {
  const accounts = await listDueAccounts(world.db, { now: world.clock.now(), limit: ROUND_MAX });
  const errors: unknown[] = [];
  for (const accountId of accounts)
    await applyDueChange(world, accountId).catch((error: unknown) => errors.push(error));
  // One account delays no other.
  if (errors.length > 0) throw errors[0];
  return accounts.length;
}

async function applyDueChange(world: ChangeWorld, accountId: string): Promise<void> {
  const at = world.clock.now();
  try {
    await world.db.transaction(async (tx) => {
      const account = await lockAccount(tx, accountId);
      const row = await findOpenChange(tx, accountId);
      if (account === undefined || row === undefined || row.due_at === null || row.due_at > at) return;
      await changeAccount(tx, world, { accountId, change: row.change as PayoutTerms });
      const applied = await updateChange(tx, row.id, { status: "applied", ended_by: "time", ended_at: at });
      await record(tx, world, { row: applied, account, actor: row.proposed_by, at, step: "applied" });
    });
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const open = await findOpenChange(world.db.root, accountId);
    if (open !== undefined)
      await stopPayoutChange(world, { accountId, changeId: open.id }, `service: ${error.message}`);
  }
  clearKeyCache(world);
}

async function lockOpen(
  tx: Tx,
  { accountId, changeId }: { accountId: string; changeId: string },
): Promise<{ account: AccountRow; row: PayoutChangeRow }> {
  const account = await lockAccount(tx, accountId);
  const row = await findOpenChange(tx, accountId);
  if (account === undefined || row?.id !== changeId) throw noChange();
  return { account, row };
}

function noChange(): Fault {
  return new Fault("not_found", { message: "There is no such open change of the payout." });
}

/** A change as its events show it. */
function payoutChangeRecord(row: PayoutChangeRow): object {
  return {
    object: "payout_change",
    payoutChangeId: row.id,
    accountId: row.account_id,
    status: row.status,
    change: Object.fromEntries(describeChange(row).map(([name, value]) => [name, value])),
    proposedBy: row.proposed_by,
    proposedAt: row.proposed_at.toISOString(),
    dueAt: row.due_at?.toISOString() ?? null,
    endedBy: row.ended_by,
    endedAt: row.ended_at?.toISOString() ?? null,
  };
}

const EVENTS = {
  proposed: "account.payout_change_proposed",
  signed: "account.payout_change_confirmed",
  stopped: "account.payout_change_stopped",
  // Its event is `account.updated`.
  applied: undefined,
} as const;

type Step = { row: PayoutChangeRow; account: AccountRow; actor: string; at: Date; step: keyof typeof EVENTS };

async function record(tx: Tx, world: ChangeWorld, { row, account, actor, at, step }: Step): Promise<void> {
  const action: AuditAction = `payout_change.${step}`;
  const change = Object.fromEntries(describeChange(row));
  await appendAudit(tx, { accountId: account.id, at, actor, action, details: { payoutChangeId: row.id, change } });
  const type = EVENTS[step];
  if (type === undefined) return;
  const livemode = account.environment === "live";
  const event = {
    type,
    accountId: account.id,
    intentNumber: null,
    livemode,
    object: payoutChangeRecord(row),
    previous: null,
  };
  await appendEvents(tx, world, { events: [event], at });
}
