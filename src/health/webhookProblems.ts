import { sql } from "kysely";
import { addMs, DAY_MS } from "../kernel/clock.ts";
import type { World } from "../world.ts";

/** As long as an endpoint fails before its account is told. */
const FAILING_MS = 2.5 * DAY_MS;
/** Events are numbered, and endpoints that wait get their turn, within seconds. */
const BEHIND_MS = 120_000;
/** More are reported as this many. */
const COUNT_MAX = 1_000;

export type WebhookProblems = {
  /** Endpoints that have failed for days, with the one that fails longest. */
  failing: { count: number; endpoint: string; account: string } | undefined;
  /** The oldest event without a sequence. */
  unnumberedSince: Date | undefined;
  /** The longest that an endpoint with due events waits for its turn. */
  waitingSince: Date | undefined;
  isBehind: boolean;
};

type Row = {
  failing: number;
  endpoint: string | null;
  account: string | null;
  unnumbered: Date | null;
  waiting: Date | null;
};

/**
 * What the feed and the webhooks wait for. An endpoint that its merchant or its own answer disabled fails no more. Each
 * part reads a few rows of a partial index.
 */
export async function readWebhookProblems({ db, clock }: Pick<World, "db" | "clock">): Promise<WebhookProblems> {
  const now = clock.now();
  const { rows } = await sql<Row>`
    with failing as (
      select id, account_id, failing_since from webhook_endpoint
      where failing_since <= ${addMs(now, -FAILING_MS)} and deleted_at is null and coalesce(disabled_reason, 'failing') = 'failing'
      order by failing_since limit ${COUNT_MAX}
    )
    select (select count(*)::int from failing) as failing,
      (select id from failing order by failing_since limit 1) as endpoint,
      (select account_id from failing order by failing_since limit 1) as account,
      (select created_at from event where sequence is null order by position limit 1) as unnumbered,
      (select min(due_at) from webhook_endpoint where queue = 'healthy' and due_at is not null) as waiting`.execute(
    db.root,
  );
  const { failing = 0, endpoint = null, account = null, unnumbered = null, waiting = null } = rows[0] ?? {};
  const limit = addMs(now, -BEHIND_MS);
  return {
    failing: endpoint === null || account === null ? undefined : { count: failing, endpoint, account },
    unnumberedSince: unnumbered ?? undefined,
    waitingSince: waiting !== null && waiting < now ? waiting : undefined,
    isBehind: [unnumbered, waiting].some((since) => since !== null && since < limit),
  };
}
