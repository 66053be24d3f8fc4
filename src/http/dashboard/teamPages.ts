import type { FastifyInstance } from "fastify";
import { auditPage } from "@tributary/dashboard/merchant/audit";
import type { MerchantPage } from "@tributary/dashboard/merchant/frame";
import { keysPage, newKeyPage } from "@tributary/dashboard/merchant/keys";
import { teamPage } from "@tributary/dashboard/merchant/team";
import { appendAudit, listAudit } from "../../dashboard/auditStore.ts";
import { addMember, changeRole, MEMBER_ROLES, removeMember } from "../../dashboard/members.ts";
import { listMemberRows } from "../../dashboard/memberStore.ts";
import { caip10, displayAddress } from "../../kernel/caip.ts";
import { Fault } from "../../kernel/faults.ts";
import { prepareKey } from "../../merchant/keys/createKey.ts";
import { clearKeyCache } from "../../merchant/keys/keyCache.ts";
import { revokeKey } from "../../merchant/keys/revokeKey.ts";
import { SCOPES } from "../../merchant/keys/scopes.ts";
import { listKeys } from "../../merchant/listAccounts.ts";
import { insertKey, lockKey } from "../../merchant/store.ts";
import type { HttpContext } from "../httpContext.ts";
import { readPage } from "../reads/readPage.ts";
import { DASHBOARD_PATH, pageHandler, type PageRequest } from "./dashboardContext.ts";
import { addForm, orShowAgain } from "./formHandler.ts";

const PAGE_SIZE = 50;
/** Keys that the page shows, and beyond which it makes none. An account has a handful. */
const KEYS_MAX = 500;

type Signed = Pick<PageRequest, "session" | "view">;

/** Adds the pages of the team, the keys and the audit log. */
export function addTeamPages(server: FastifyInstance, context: HttpContext): void {
  addMemberPages(server, context);
  addKeyPages(server, context);
  const { world } = context;
  server.get(
    `${DASHBOARD_PATH}/audit`,
    pageHandler(context, async ({ session: { accountId }, view, query }) => {
      const cursor = query("cursor");
      const { rows, nextCursor } = await readPage(world, {
        list: "audit_entry",
        owner: accountId,
        limit: PAGE_SIZE,
        cursor: cursor === "" ? undefined : cursor,
        readRows: ({ below, limit }) => listAudit(world.db, { accountId, below, limit }),
        positionOf: ({ number }) => number,
      });
      const entries = rows.map(({ number, at, actor, action, details }) => ({
        number: number.toString(),
        at: at.toISOString(),
        actor,
        action,
        details: JSON.stringify(details),
      }));
      return auditPage(view, { entries, nextCursor, isFirstPage: cursor === "" });
    }),
  );
}

function addMemberPages(server: FastifyInstance, context: HttpContext): void {
  const { world } = context;
  const path = `${DASHBOARD_PATH}/team`;
  const show = async ({ session, view }: Signed, problem?: string): Promise<MerchantPage> => {
    const members = (await listMemberRows(world.db.root, session.accountId)).map((row) => ({
      memberId: row.id,
      wallet: row.chain === null ? displayAddress(`${row.namespace}:1`, row.wallet) : caip10(row.chain, row.wallet),
      role: row.role,
      name: row.name,
      createdAt: row.created_at.toISOString(),
    }));
    const manager = session.isOwner ? { token: session.token } : null;
    return teamPage(view, { members, roles: MEMBER_ROLES, manager, problem });
  };
  server.get(
    path,
    pageHandler(context, (page) => show(page)),
  );
  const changes = {
    "": addMember,
    "/role": changeRole,
    "/remove": removeMember,
  } as const;
  for (const [action, change] of Object.entries(changes))
    addForm(server, context, {
      path: `${path}${action}`,
      allows: ({ isOwner }) => isOwner,
      change: (form) =>
        orShowAgain(
          form,
          (problem) => show(form, problem),
          async () => {
            const { accountId, actor } = form.session;
            const [wallet, role, name, memberId] = ["wallet", "role", "name", "memberId"].map(form.field);
            const given = { wallet: wallet ?? "", role: role ?? "", name: name ?? "", memberId: memberId ?? "" };
            await change(world, { accountId, ...given }, actor);
            return path;
          },
        ),
    });
}

function addKeyPages(server: FastifyInstance, context: HttpContext): void {
  const { world } = context;
  const path = `${DASHBOARD_PATH}/keys`;
  const show = async ({ session, view }: Signed, problem?: string): Promise<MerchantPage> => {
    const { accountId, mayManageKeys, token } = session;
    const now = world.clock.now();
    const keys = (await listKeys(world, { accountId, limit: KEYS_MAX })).map((key) => ({
      keyId: key.key_id,
      scopes: key.scopes,
      state: stateOf(key, now),
      createdAt: key.created_at.toISOString(),
      lastUsedAt: key.last_used_at?.toISOString() ?? null,
    }));
    return keysPage(view, { keys, scopes: SCOPES, manager: mayManageKeys ? { token } : null, problem });
  };
  server.get(
    path,
    pageHandler(context, (page) => show(page)),
  );
  addForm(server, context, {
    path,
    allows: ({ mayManageKeys }) => mayManageKeys,
    change: (form) =>
      orShowAgain(
        form,
        (problem) => show(form, problem),
        async () => {
          const { accountId, actor } = form.session;
          const scopes = form.fields("scope");
          if (scopes.length === 0) throw new Fault("invalid_request", { message: "Choose at least one scope." });
          if ((await listKeys(world, { accountId, limit: KEYS_MAX })).length >= KEYS_MAX)
            throw new Fault("invalid_request", {
              message: `This page makes at most ${KEYS_MAX} keys. Ask the operator.`,
            });
          const { row, apiKey } = await prepareKey(world, { accountId, scopes });
          await world.db.transaction(async (tx) => {
            await insertKey(tx, row);
            const details = { keyId: row.key_id, scopes };
            await appendAudit(tx, { accountId, at: world.clock.now(), actor, action: "key.created", details });
          });
          return newKeyPage(form.view, apiKey);
        },
      ),
  });
  addForm(server, context, {
    path: `${path}/revoke`,
    allows: ({ mayManageKeys }) => mayManageKeys,
    change: async (form) => {
      const { accountId, actor } = form.session;
      const keyId = form.field("keyId");
      await world.db.transaction(async (tx) => {
        const key = await lockKey(tx, keyId);
        if (key?.account_id !== accountId) throw new Fault("not_found", { message: "No such key." });
        await revokeKey(world, keyId, tx);
        await appendAudit(tx, { accountId, at: world.clock.now(), actor, action: "key.revoked", details: { keyId } });
      });
      clearKeyCache(world);
      return path;
    },
  });
}

function stateOf(
  key: { revoked_at: Date | null; expires_at: Date | null },
  now: Date,
): "active" | "expired" | "revoked" {
  if (key.revoked_at !== null) return "revoked";
  return key.expires_at !== null && key.expires_at <= now ? "expired" : "active";
}
