import { createHmac, timingSafeEqual } from "node:crypto";
import { ensureDeployment } from "../intent/deployment.ts";
import { addMs, hasElapsed } from "../kernel/clock.ts";
import { Fault } from "../kernel/faults.ts";
import { authenticate, requireScope } from "../merchant/keys/authenticate.ts";
import { MANAGE_DASHBOARD, READ_DASHBOARD } from "../merchant/keys/scopes.ts";
import type { World } from "../world.ts";
import type { Caip2, Namespace } from "../kernel/caip.ts";
import type { MemberRole } from "./dashboardTables.ts";
import { findMemberships, type Membership } from "./memberStore.ts";
import {
  deleteOverSessions,
  deleteSession,
  findSession,
  insertKeySession,
  insertMemberSession,
  markSeen,
  type FoundSession,
  type NewSession,
} from "./sessionStore.ts";

// Sessions of the dashboard. The cookie names a row and carries a signature, so that a made-up one costs no read. Each
// request reads the row with its key and account: a revoked key ends its sessions at once.

/** Whoever may change things sees them too. */
const SIGN_IN_SCOPES = [READ_DASHBOARD, MANAGE_DASHBOARD] as const;
export const SESSION_MS = 8 * 3_600_000;
/** Precision of when a session was last used. */
const SEEN_MS = 60_000;
const ID_BYTES = 24;

type SignWorld = Pick<World, "db" | "entropy" | "memory">;
type SessionWorld = SignWorld & Pick<World, "clock" | "config" | "log">;

/** Who signed in: a key, or a person by a wallet. */
export type Viewer =
  | { readonly kind: "key"; readonly keyId: string }
  | {
      readonly kind: "member";
      readonly memberId: string;
      readonly role: MemberRole;
      readonly namespace: Namespace;
      readonly wallet: string;
      /** Where the wallet is a contract. */
      readonly chain: Caip2 | null;
    };

export type DashboardSession = {
  id: string;
  accountId: string;
  accountName: string;
  viewer: Viewer;
  /** As the audit log names him. */
  actor: string;
  expiresAt: Date;
  /** Whether it may change webhook endpoints. */
  mayManage: boolean;
  /** Whether it may make and revoke keys: never by a key. */
  mayManageKeys: boolean;
  /** Whether it may change the team and propose a payout: an owner, by his wallet. */
  isOwner: boolean;
  /** Goes with every form: another site cannot know it. */
  token: string;
};

/**
 * Signs in by an API key, and returns the cookie's value. Throws the faults of an invalid key, insufficient_scope or
 * account_suspended.
 */
export async function openSession(world: SessionWorld, apiKey: string): Promise<string> {
  const caller = await authenticate(world, `Bearer ${apiKey}`);
  requireScope(caller, SIGN_IN_SCOPES);
  const session = newSession(world, caller.account.id);
  await insertKeySession(world.db, { ...session, keyId: caller.keyId });
  return cookieOf(world, session.id);
}

/** Signs in a member, whose wallet has been checked, and returns the cookie's value. `until`: when it ends at the latest. */
export async function openMemberSession(
  world: Omit<SessionWorld, "log">,
  { accountId, memberId, until }: { accountId: string; memberId: string; until?: Date },
): Promise<string> {
  const session = newSession(world, accountId);
  if (until !== undefined) session.expiresAt = until;
  await insertMemberSession(world.db, { ...session, memberId });
  return cookieOf(world, session.id);
}

function newSession({ entropy, clock }: Pick<World, "entropy" | "clock">, accountId: string): NewSession {
  const id = Buffer.from(entropy.bytes(ID_BYTES)).toString("base64url");
  const at = clock.now();
  return { id, accountId, at, expiresAt: addMs(at, SESSION_MS) };
}

async function cookieOf(world: SignWorld, id: string): Promise<string> {
  return `${id}.${await sign(world, "session", id)}`;
}

/**
 * The session of a cookie's value; undefined when it is forged, over or ended, or when its key may no longer read or its
 * member is removed.
 */
export async function checkSession(world: SessionWorld, value: string): Promise<DashboardSession | undefined> {
  const [, id = "", signature = ""] = /^([A-Za-z0-9_-]{32})\.([A-Za-z0-9_-]{43})$/.exec(value) ?? [];
  if (id === "" || !isEqual(signature, await sign(world, "session", id))) return undefined;
  const found = await findSession(world.db, id);
  const now = world.clock.now();
  if (found === undefined || found.expiresAt <= now || found.isSuspended) return undefined;
  const viewer = found.memberId === null ? keyOf(found, now) : memberOf(found);
  if (viewer === undefined) return undefined;
  if (hasElapsed(SEEN_MS, { since: found.seenAt, now })) await markSeen(world.db, { kind: viewer.kind, id }, now);
  const { accountId, accountName, expiresAt } = found;
  const role = viewer.kind === "member" ? viewer.role : undefined;
  const isBuilder = role === "owner" || role === "developer";
  return {
    id,
    accountId,
    accountName,
    viewer,
    actor: viewer.kind === "key" ? `key ${viewer.keyId}` : `member ${viewer.memberId}`,
    expiresAt,
    mayManage: isBuilder || found.scopes?.includes(MANAGE_DASHBOARD) === true,
    mayManageKeys: isBuilder,
    isOwner: role === "owner",
    token: await sign(world, "form", id),
  };
}

function keyOf({ keyId, scopes, keyRevokedAt, keyExpiresAt }: FoundSession, now: Date): Viewer | undefined {
  if (keyId === null || scopes === null || keyRevokedAt !== null) return undefined;
  if (keyExpiresAt !== null && keyExpiresAt <= now) return undefined;
  return SIGN_IN_SCOPES.some((scope) => scopes.includes(scope)) ? { kind: "key", keyId } : undefined;
}

function memberOf(found: FoundSession): Viewer | undefined {
  const { memberId, memberRole: role, memberNamespace: namespace, memberWallet: wallet, memberRemovedAt } = found;
  const { memberChain: chain } = found;
  if (memberId === null || role === null || namespace === null || wallet === null || memberRemovedAt !== null)
    return undefined;
  return { kind: "member", memberId, role, namespace, wallet, chain };
}

/** Throws unauthorized for a form that is not of this session. */
export function requireFormToken(session: DashboardSession, token: string): void {
  if (!isEqual(token, session.token)) throw new Fault("unauthorized", { message: "The form is of another session." });
}

/** The accounts that the session's wallet may open: none for a key. */
export async function listOwnAccounts(world: Pick<World, "db">, { viewer }: DashboardSession): Promise<Membership[]> {
  if (viewer.kind === "key") return [];
  return (await findMemberships(world.db, viewer)).filter(({ chain }) => chain === viewer.chain);
}

/** Opens another account of the session's wallet, no longer than the session lasts, and ends it. Throws not_found. */
export async function switchAccount(
  world: Omit<SessionWorld, "log">,
  session: DashboardSession,
  accountId: string,
): Promise<string> {
  const chosen = (await listOwnAccounts(world, session)).find((each) => each.accountId === accountId);
  if (chosen === undefined) throw new Fault("not_found", { message: "No such account." });
  const cookie = await openMemberSession(world, { ...chosen, until: session.expiresAt });
  await deleteSession(world.db, { kind: session.viewer.kind, id: session.id });
  return cookie;
}

/** Ends a session. Throws unauthorized for a form that is not of this session. */
export async function endSession(world: Pick<World, "db">, session: DashboardSession, token: string): Promise<void> {
  requireFormToken(session, token);
  await deleteSession(world.db, { kind: session.viewer.kind, id: session.id });
}

/** Purges the sessions of keys, or those of members. */
export function purgeSessions(
  { db, clock }: Pick<World, "db" | "clock">,
  { kind, limit }: { kind: Viewer["kind"]; limit: number },
): Promise<number> {
  return deleteOverSessions(db, { kind, before: clock.now(), limit });
}

async function sign(world: SignWorld, purpose: "session" | "form", id: string): Promise<string> {
  const { signingSecret } = await ensureDeployment(world);
  return createHmac("sha256", signingSecret).update(`dashboard ${purpose}\n${id}\n`).digest("base64url");
}

function isEqual(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}
