import { addressFormatOf } from "../chain/namespaces.ts";
import type { Tx } from "../db/database.ts";
import type { Caip2, Namespace } from "../kernel/caip.ts";
import { Fault } from "../kernel/faults.ts";
import { newId } from "../kernel/ids.ts";
import { lockAccount } from "../merchant/store.ts";
import type { World } from "../world.ts";
import { appendAudit } from "./auditStore.ts";
import type { MemberRole } from "./dashboardTables.ts";
import { insertMember, listMemberRows, MEMBERS_MAX, updateRemoved, updateRole, type MemberRow } from "./memberStore.ts";

// Who may sign in to an account's dashboard by a wallet. The operator adds the first member; owners add the others.

type MemberWorld = Pick<World, "db" | "clock" | "entropy" | "catalog">;

export const MEMBER_ROLES: readonly MemberRole[] = ["owner", "developer", "reader"];
const NAME_CHARACTERS_MAX = 100;

export type NewMember = {
  accountId: string;
  /** An EVM address or a Solana key. A wallet that is a contract stands behind its chain: eip155:8453:0x…. */
  wallet: string;
  role: string;
  name?: string | undefined;
};

/** `actor`: who does it, as the audit log names him. Throws invalid_request that names the field, and not_found. */
export async function addMember(world: MemberWorld, member: NewMember, actor: string): Promise<MemberRow> {
  const role = requireRole(member.role);
  const { namespace, wallet, chain } = requireMemberWallet(world, member.wallet);
  const name = member.name?.trim() ?? "";
  if (name.length > NAME_CHARACTERS_MAX) throw invalid("name", `at most ${NAME_CHARACTERS_MAX} characters`);
  const { accountId } = member;
  return world.db.transaction(async (tx) => {
    const members = await lockMembers(tx, accountId);
    if (members.length >= MEMBERS_MAX)
      throw new Fault("invalid_request", { message: `An account has at most ${MEMBERS_MAX} members.` });
    const row = {
      id: newId("mem", world.entropy),
      account_id: accountId,
      namespace,
      wallet,
      chain,
      role,
      name: name === "" ? null : name,
      created_at: world.clock.now(),
    };
    if (!(await insertMember(tx, row))) throw invalid("wallet", "one that is not a member yet");
    await appendAudit(tx, {
      accountId,
      at: row.created_at,
      actor,
      action: "member.added",
      details: { memberId: row.id, wallet, ...(chain === null ? {} : { chain }), role },
    });
    return { ...row, removed_at: null };
  });
}

/** Ends the member's sessions too. Throws not_found; an account with members keeps an owner, unless the operator removes him. */
export async function removeMember(
  world: MemberWorld,
  { accountId, memberId }: { accountId: string; memberId: string },
  actor: string,
): Promise<void> {
  const at = world.clock.now();
  await world.db.transaction(async (tx) => {
    const members = await lockMembers(tx, accountId);
    if (actor !== "operator") requireOtherOwner(members, memberId);
    if (!(await updateRemoved(tx, { accountId, id: memberId, at }))) throw noMember();
    const wallet = members.find(({ id }) => id === memberId)?.wallet;
    await appendAudit(tx, { accountId, at, actor, action: "member.removed", details: { memberId, wallet } });
  });
}

export async function changeRole(
  world: MemberWorld,
  { accountId, memberId, role: text }: { accountId: string; memberId: string; role: string },
  actor: string,
): Promise<void> {
  const role = requireRole(text);
  await world.db.transaction(async (tx) => {
    const members = await lockMembers(tx, accountId);
    if (role !== "owner") requireOtherOwner(members, memberId);
    if (!(await updateRole(tx, { accountId, id: memberId, role }))) throw noMember();
    const before = members.find(({ id }) => id === memberId)?.role;
    const details = { memberId, before, role };
    await appendAudit(tx, { accountId, at: world.clock.now(), actor, action: "member.role_changed", details });
  });
}

/** Of two members who remove each other at once, one is refused. */
async function lockMembers(tx: Tx, accountId: string): Promise<MemberRow[]> {
  if ((await lockAccount(tx, accountId)) === undefined) throw new Fault("not_found", { message: "No such account." });
  return listMemberRows(tx, accountId);
}

function requireOtherOwner(members: readonly MemberRow[], memberId: string): void {
  const isOwner = members.some(({ id, role }) => id === memberId && role === "owner");
  const isOther = members.some(({ id, role }) => id !== memberId && role === "owner");
  if (isOwner && !isOther)
    throw new Fault("invalid_request", {
      param: "memberId",
      message: "This is the only owner: make another one first.",
    });
}

/** The wallet in stored form, and its chain where it is a contract. Throws invalid_request. */
function requireMemberWallet(
  world: Pick<World, "catalog">,
  text: string,
): { namespace: Namespace; wallet: string; chain: Caip2 | null } {
  const [, id, address = ""] = /^(eip155:\d{1,20}):(0x.*)$/i.exec(text.trim()) ?? [];
  if (id === undefined) return { ...requireWallet(world, text), chain: null };
  const chain = world.catalog.knownChains.find(({ caip2 }) => caip2 === id.toLowerCase())?.caip2;
  if (chain === undefined) throw invalid("wallet", "on a chain of this service");
  return { ...requireWallet(world, address), chain };
}

/** The wallet in stored form. Throws invalid_request. */
export function requireWallet(
  { catalog }: Pick<World, "catalog">,
  text: string,
): { namespace: Namespace; wallet: string } {
  const namespace = /^0x/i.test(text) ? "eip155" : "solana";
  const parsed = addressFormatOf(namespace).parseWallet(text, catalog.contracts);
  if ("address" in parsed) return { namespace, wallet: parsed.address };
  throw invalid(
    "wallet",
    "the address of a wallet on an EVM chain or on Solana, or of a contract such as eip155:8453:0x…",
  );
}

function requireRole(text: string): MemberRole {
  const role = MEMBER_ROLES.find((each) => each === text);
  if (role !== undefined) return role;
  throw invalid("role", `one of ${MEMBER_ROLES.join(", ")}`);
}

function invalid(param: string, expected: string): Fault {
  return new Fault("invalid_request", { param, message: `${param} must be ${expected}.` });
}

function noMember(): Fault {
  return new Fault("not_found", { message: "No such member." });
}
