import { sql } from "kysely";
import type {
  OpsAmount,
  OpsBooks,
  OpsCrossing,
  OpsEndpoint,
  OpsHeld,
  OpsTransaction,
} from "@tributary/dashboard/ops/opsState";
import { findAsset } from "../../catalog/catalog.ts";
import { formatUnits } from "../../kernel/units.ts";
import { countDifferences, listPasses } from "../../watch/reconcile/balanceStore.ts";
import type { World } from "../../world.ts";

// Open rows of money, each list with a bound. They come from partial indexes, so history costs nothing.

export type MoneyWorld = Pick<World, "db" | "clock" | "config" | "catalog">;

/** Rows that are read, of which the oldest are shown. */
const READ_MAX = 200;
const SHOWN_MAX = 20;

export function chainNameOf({ config }: Pick<World, "config">, chain: string): string {
  return config.chains.find(({ caip2 }) => caip2 === chain)?.name ?? chain;
}

export function amountOf(
  { catalog }: Pick<World, "catalog">,
  { chain, token, units, decimals }: { chain: string; token: string; units: bigint; decimals?: number },
): OpsAmount {
  const asset = findAsset(catalog, chain, token);
  return { decimal: formatUnits(units, decimals ?? asset?.decimals ?? 0), symbol: asset?.symbol ?? token };
}

function oldestOf<Row>(rows: readonly Row[], timeOf: (row: Row) => Date): Row[] {
  return rows.toSorted((one, other) => timeOf(one).getTime() - timeOf(other).getTime()).slice(0, SHOWN_MAX);
}

type TransactionRow = { chain: string; nonce: bigint | null; attempts: number; settlements: number; created_at: Date };

export async function readTransactions(world: MoneyWorld): Promise<OpsTransaction[]> {
  const { rows } = await sql<TransactionRow>`
    select chain, nonce, created_at,
      (select count(*)::int from outgoing_attempt where outgoing_id = open.id) as attempts,
      (select count(*)::int from settlement
        where outgoing_id = open.id and status not in ('landed', 'failed')) as settlements
    from (select * from outgoing_transaction where status = 'signed' order by chain, nonce limit ${READ_MAX}) as open`.execute(
    world.db.root,
  );
  const nowMs = world.clock.now().getTime();
  return oldestOf(rows, ({ created_at: at }) => at).map((row) => ({
    chainName: chainNameOf(world, row.chain),
    nonce: row.nonce === null ? null : String(row.nonce),
    attempts: row.attempts,
    settlements: row.settlements,
    ageMs: Math.max(0, nowMs - row.created_at.getTime()),
  }));
}

type CrossingRow = {
  intent_id: string;
  chain: string;
  settle_chain: string;
  token: string;
  units: bigint;
  status: string;
  reason: string | null;
  created_at: Date;
};

export async function readCrossings(world: MoneyWorld): Promise<OpsCrossing[]> {
  if (world.config.bridge === undefined) return [];
  const columns = sql.raw("intent_id, chain, settle_chain, token, units, status, reason, created_at");
  const { rows } = await sql<CrossingRow>`
    (select ${columns} from crossing where status = 'burned' order by queue, retry_at limit ${READ_MAX})
    union all
    (select ${columns} from crossing where status = 'attested' order by queue limit ${READ_MAX})`.execute(
    world.db.root,
  );
  const nowMs = world.clock.now().getTime();
  return oldestOf(rows, ({ created_at: at }) => at).map((row) => ({
    intentId: row.intent_id,
    from: chainNameOf(world, row.chain),
    to: chainNameOf(world, row.settle_chain),
    amount: amountOf(world, row),
    status: row.status,
    reason: row.reason,
    ageMs: Math.max(0, nowMs - row.created_at.getTime()),
  }));
}

type HeldRow = {
  id: string;
  intent_id: string;
  name: string;
  chain: string;
  token: string;
  token_decimals: number;
  amount_units: bigint;
  reason: string;
  seen_at: Date;
};

export async function readHeld(world: MoneyWorld): Promise<OpsHeld[]> {
  const { rows } = await sql<HeldRow>`
    select held.id, held.intent_id, account.name, held.chain, held.token, held.token_decimals, held.amount_units,
      held.reason, held.seen_at
    from (select * from deposit where status = 'held' limit ${READ_MAX}) as held
      join intent on intent.id = held.intent_id join account on account.id = intent.account_id`.execute(world.db.root);
  return oldestOf(rows, ({ seen_at: at }) => at).map((row) => ({
    depositId: row.id,
    intentId: row.intent_id,
    accountName: row.name,
    amount: amountOf(world, { ...row, units: row.amount_units, decimals: row.token_decimals }),
    chainName: chainNameOf(world, row.chain),
    reason: row.reason,
    since: row.seen_at.toISOString(),
  }));
}

/** How far the comparison of inboxes with the chains is. The sums of the ledger are a command: they read everything. */
export async function readBooks(world: MoneyWorld): Promise<OpsBooks> {
  const [differences, passes] = await Promise.all([countDifferences(world.db), listPasses(world.db)]);
  return {
    differences: differences.reduce((sum, { count }) => sum + Number(count), 0),
    passes: passes.flatMap(({ chain, scope, completed_at: at, completed_count: count }) =>
      scope !== "all" || at === null
        ? []
        : [{ chainName: chainNameOf(world, chain), compared: String(count ?? 0n), completedAt: at.toISOString() }],
    ),
  };
}

type EndpointRow = {
  id: string;
  url: string;
  name: string;
  status: string;
  failing_since: Date | null;
  due_since: Date | null;
};

/** Endpoints that wait or fail. Of their URLs only the host is shown, because a path may be a secret. */
export async function readEndpoints({ db, clock }: MoneyWorld): Promise<OpsEndpoint[]> {
  const { rows } = await sql<EndpointRow>`
    select endpoint.id, endpoint.url, account.name, endpoint.status, endpoint.failing_since, endpoint.due_since
    from (
      select * from (select * from webhook_endpoint where queue = 'healthy' and due_since is not null
        order by due_since limit ${SHOWN_MAX}) as waiting
      union
      select * from (select * from webhook_endpoint where failing_since is not null
        order by failing_since limit ${SHOWN_MAX}) as failing
    ) as endpoint join account on account.id = endpoint.account_id where endpoint.deleted_at is null`.execute(db.root);
  const nowMs = clock.now().getTime();
  return rows.slice(0, SHOWN_MAX).map((row) => ({
    endpointId: row.id,
    host: URL.parse(row.url)?.host ?? "",
    accountName: row.name,
    status: row.status,
    failingSince: row.failing_since?.toISOString() ?? null,
    waitingMs: row.due_since === null ? null : Math.max(0, nowMs - row.due_since.getTime()),
  }));
}
