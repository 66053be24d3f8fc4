import { inBlocksOf } from "../store/namedIndexes.ts";
import { sql } from "kysely";
import type { Db } from "../../db/database.ts";
import type { PassScope } from "./balanceTables.ts";
import { isInboxOnChain } from "../../intent/inboxStore.ts";
import { namespaceOf, referenceOf, type Caip2 } from "../../kernel/caip.ts";
import { addMs } from "../../kernel/clock.ts";

// The inboxes of a pass, page by page. Each page is read by an index from where the last one ended.

/** An inbox with its owner; `token` is empty where the address takes every token. */
export type ComparedInbox = { intentId: string; address: string; token: string };

export type PassPage = {
  inboxes: ComparedInbox[];
  /** The position of the next page; undefined after the last one. */
  next: string | undefined;
};

export type PageQuery = {
  chain: Caip2;
  scope: PassScope;
  position: string | null;
  at: Date;
  /** The most inboxes of a page of `all` or `other_tokens`. Default 100. */
  inboxesMax?: number;
  /** How long ago a view may have ended, in milliseconds. */
  viewedMs?: number;
};

/** Inboxes per page: few enough for one request, and for its time. */
const PAGE_INBOXES = 100;
/** Movements per page. Most inboxes have few, so a page holds about as many inboxes. */
const PAGE_ROWS = 200;
/** How recent a payment, a creation or a view is. */
const RECENT_MS = 30 * 86_400_000;

/** The next inboxes of a pass. */
export async function readPassPage(db: Db, query: PageQuery): Promise<PassPage> {
  switch (query.scope) {
    case "all":
    case "other_tokens":
      return readAll(db, query);
    case "created":
      return readCreated(db, query);
    case "moved":
      return readMoved(db, query);
    case "viewed":
      return readViewed(db, query);
    case "settled":
      return { inboxes: [], next: undefined };
  }
}

type InboxOfPage = ComparedInbox & { seq: bigint; createdAt: Date };

async function readAll(db: Db, { chain, position, inboxesMax = PAGE_INBOXES }: PageQuery): Promise<PassPage> {
  // The page is of all chains, so that only the order of the rows decides how it is read.
  const { rows } = await sql<InboxOfPage & { isOnChain: boolean }>`
    select inbox.seq, inbox.intent_id as "intentId", inbox.address, inbox.token, inbox.created_at as "createdAt",
      ${isInboxOnChain(chain)} as "isOnChain" from inbox
    where inbox.seq > ${BigInt(position ?? -1)}::bigint order by inbox.seq limit ${inboxesMax}`.execute(db.root);
  const inboxes = rows.filter(({ isOnChain }) => isOnChain);
  return { inboxes, next: rows.length < inboxesMax ? undefined : rows.at(-1)?.seq.toString() };
}

/** The newest first, until one is too old. */
async function readCreated(db: Db, { chain, position, at }: PageQuery): Promise<PassPage> {
  const { rows } = await sql<InboxOfPage>`
    select inbox.seq, inbox.intent_id as "intentId", inbox.address, inbox.token, inbox.created_at as "createdAt" from inbox
    where ${isInboxOnChain(chain)} ${position === null ? sql`` : sql`and inbox.seq < ${BigInt(position)}::bigint`}
    order by inbox.seq desc limit ${PAGE_INBOXES}`.execute(db.root);
  const since = addMs(at, -RECENT_MS);
  const inboxes = rows.filter(({ createdAt }) => createdAt >= since);
  const isLast = rows.length < PAGE_INBOXES || inboxes.length === 0;
  return { inboxes, next: isLast ? undefined : rows.at(-1)?.seq.toString() };
}

/** From the newest block down, until a page was seen too long ago. An inbox is in the page of its last movement. */
async function readMoved(db: Db, { chain, position, at }: PageQuery): Promise<PassPage> {
  const { rows } = await sql<
    ComparedInbox & { blockNumber: bigint; seenAt: Date; isNewest: boolean; pageRows: bigint }
  >`
    with page as (
      select intent_id, inbox, token, block_number, seen_at from movement
      where ${inBlocksOf(chain)} ${position === null ? sql`` : sql`and block_number < ${BigInt(position)}::bigint`}
      order by block_number desc fetch first ${sql.lit(PAGE_ROWS)} rows with ties
    )
    select page.intent_id as "intentId", page.inbox as address, '' as token, min(page.block_number) as "blockNumber",
      max(page.seen_at) as "seenAt", (select count(*) from page) as "pageRows", not exists (
        select from movement later where later.intent_id = page.intent_id and later.chain = ${chain}
          and later.token = page.token and later.block_number > max(page.block_number)) as "isNewest"
    from page group by page.intent_id, page.inbox, page.token order by page.inbox`.execute(db.root);
  const since = addMs(at, -RECENT_MS);
  const lowest = rows.reduce<bigint | undefined>(
    (least, { blockNumber }) => (least === undefined || blockNumber < least ? blockNumber : least),
    undefined,
  );
  const recent = rows.filter(({ seenAt }) => seenAt >= since);
  const isLast = recent.length === 0 || Number(rows[0]?.pageRows ?? 0n) < PAGE_ROWS;
  const inboxes = new Map(recent.filter(({ isNewest }) => isNewest).map((row) => [row.address, row]));
  return { inboxes: [...inboxes.values()], next: isLast ? undefined : lowest?.toString() };
}

/** The hints with the latest expiry first. */
async function readViewed(db: Db, { chain, position, at, viewedMs = RECENT_MS }: PageQuery): Promise<PassPage> {
  const [namespace, reference] = [namespaceOf(chain), referenceOf(chain)];
  const [expiry, intentId] = position?.split(" ") ?? [];
  const { rows } = await sql<ComparedInbox & { expiresAt: Date }>`
    select view_hint.expires_at as "expiresAt", view_hint.intent_id as "intentId", found.address, found.token
    from view_hint cross join lateral (
      select inbox.address, inbox.token from inbox
      where inbox.intent_id = view_hint.intent_id and ${isInboxOnChain(chain)}
        and inbox.token in ('', view_hint.token) offset 0) as found
    where view_hint.namespace = ${namespace} and view_hint.reference = ${reference}
      and view_hint.expires_at >= ${addMs(at, -viewedMs)}
      ${expiry === undefined ? sql`` : sql`and (view_hint.expires_at, view_hint.intent_id) < (${expiry}::timestamptz, ${intentId})`}
    order by view_hint.expires_at desc, view_hint.intent_id desc limit ${PAGE_INBOXES}`.execute(db.root);
  const last = rows.at(-1);
  const next = last && rows.length === PAGE_INBOXES ? `${last.expiresAt.toISOString()} ${last.intentId}` : undefined;
  return { inboxes: [...new Map(rows.map((row) => [row.address, row])).values()], next };
}
