import process from "node:process";
import { collectDefaultMetrics, Gauge, Histogram, Registry } from "@prometheus-io/client";
import { activeAlarms } from "../alarm/updateAlarms.ts";
import type { ChainConfig } from "../config/config.ts";
import { productVersion } from "../config/operate/productVersion.ts";
import { countOpenCrossings } from "../health/openCrossings.ts";
import { countRows, readOpenRows } from "../health/openRows.ts";
import { readProviderHints } from "../health/providerHints.ts";
import { readWebhookProblems } from "../health/webhookProblems.ts";
import { getChainHealth, settlementsLeft } from "../health/sampleChain.ts";
import type { Caip2 } from "../kernel/caip.ts";
import type { MemorySlot } from "../kernel/processMemory.ts";
import { countOpenAccounts } from "../priming/store.ts";
import { countDifferences } from "../watch/reconcile/balanceStore.ts";
import { listCursors } from "../watch/store/store.ts";
import type { World } from "../world.ts";

// The metrics of one process. Gauges are read at each scrape: chains from the last alarm checks, rows from a few
// indexed statements.

export type MetricsWorld = Pick<World, "db" | "clock" | "config" | "chains" | "memory">;

type Metrics = {
  registry: Registry;
  settleSeconds: Histogram<"chain">;
  requestSeconds: Histogram<"kind" | "status">;
  refresh: (world: MetricsWorld) => Promise<void>;
};

const METRICS: MemorySlot<{ metrics?: Metrics }> = { create: () => ({}) };

/** From the first seconds on a fast chain to a day. */
const SETTLE_SECONDS = [5, 15, 30, 60, 120, 300, 900, 3_600, 86_400];
/** From a cached document to the longest time that a proxy waits. */
const REQUEST_SECONDS = [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];
const OPEN_STATES = ["seen", "confirmed", "held"] as const;
const CROSSING_STATES = ["burned", "attested"] as const;

/** Renders all metrics in the text format of Prometheus. Rejects when the database does not answer. */
export async function renderMetrics(world: MetricsWorld): Promise<{ contentType: string; text: string }> {
  const { registry, refresh } = getMetrics(world);
  await refresh(world);
  return { contentType: registry.contentType, text: await registry.metrics() };
}

/** `seconds`: from the plan of a settlement to its landing. */
export function observeSettlement(
  world: Pick<World, "memory">,
  { chain, seconds }: { chain: string; seconds: number },
) {
  getMetrics(world).settleSeconds.observe({ chain }, seconds);
}

/** Whom a route serves: a merchant's server, a payer's browser, or a reader. */
export type RequestKind = "api" | "checkout" | "document" | "none";

/** `statusCode` is shown as its class, such as `2xx`. */
export function observeRequest(
  world: Pick<World, "memory">,
  { kind, statusCode, seconds }: { kind: RequestKind; statusCode: number; seconds: number },
) {
  getMetrics(world).requestSeconds.observe({ kind, status: `${Math.floor(statusCode / 100)}xx` }, seconds);
}

function getMetrics({ memory }: Pick<World, "memory">): Metrics {
  const slot = memory.get(METRICS);
  return (slot.metrics ??= createMetrics());
}

function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const settleSeconds = new Histogram({
    name: "tributary_settle_seconds",
    help: "Seconds from the plan of a settlement to its landing.",
    labelNames: ["chain"],
    buckets: SETTLE_SECONDS,
    registers: [registry],
  });
  const requestSeconds = new Histogram({
    name: "tributary_http_request_seconds",
    help: "Seconds from a request's head to the end of its response.",
    labelNames: ["kind", "status"],
    buckets: REQUEST_SECONDS,
    registers: [registry],
  });
  const build = new Gauge({
    name: "tributary_build_info",
    help: "1, with the versions of this process.",
    labelNames: ["version", "node"],
    registers: [registry],
  });
  build.set({ version: productVersion(), node: process.version }, 1);
  const gauges = createGauges(registry);
  return { registry, settleSeconds, requestSeconds, refresh: (world) => refreshGauges(world, gauges) };
}

type Gauges = ReturnType<typeof createGauges>;

function createGauges(registry: Registry) {
  const gauge = <Label extends string>(name: string, help: string, labelNames: readonly Label[]) =>
    new Gauge<Label>({ name, help, labelNames, registers: [registry] });
  const perChain = (name: string, help: string) => gauge(name, help, ["chain"]);
  return {
    head: perChain("tributary_chain_head_block", "The highest block that a provider reports."),
    scanned: perChain("tributary_chain_scanned_block", "The last scanned block."),
    lag: perChain("tributary_chain_lag_blocks", "Blocks between the head and the last scanned block."),
    uncounted: perChain("tributary_oldest_uncounted_seconds", "Age of the oldest deposit that is not counted."),
    unsettled: perChain("tributary_oldest_unsettled_seconds", "Age of the oldest counted money without a payout."),
    crossing: perChain("tributary_oldest_crossing_seconds", "Age of the oldest burn on a chain that has not landed."),
    crossings: gauge("tributary_crossings", "Burns on a chain that have not landed, by state.", ["chain", "status"]),
    balance: perChain("tributary_gas_balance", "Balance of the gas account in the native coin."),
    settlementsLeft: perChain("tributary_gas_settlements_left", "Settlements that the gas account can pay."),
    spent: perChain("tributary_gas_spent", "Spent by the gas account since the start, in the native coin."),
    primed: perChain("tributary_primed_accounts", "Accounts of inboxes that lock coins of the fee payer."),
    differences: perChain("tributary_ledger_differences", "Inboxes whose balance differs from the ledger."),
    deposits: gauge("tributary_deposits", "Deposits that are not counted, by state.", ["chain", "status"]),
    providerErrors: gauge("tributary_provider_errors", "Failed requests of a provider since the start.", [
      "chain",
      "provider",
    ]),
    lastHint: gauge("tributary_hint_last_timestamp_seconds", "When a provider last said where to look.", [
      "chain",
      "provider",
    ]),
    failingEndpoints: gauge("tributary_webhook_endpoints_failing", "Webhook endpoints that have failed for days.", []),
    feedAge: gauge("tributary_feed_oldest_unnumbered_seconds", "Age of the oldest event that has no number.", []),
    webhookWait: gauge(
      "tributary_webhook_longest_wait_seconds",
      "How long the endpoint that waits longest is due.",
      [],
    ),
    connections: gauge("tributary_database_connections", "Connections of the pool, by state.", ["state"]),
    waiting: gauge("tributary_database_waiting", "Callers that wait for a connection of the pool.", []),
    alarms: gauge("tributary_alarm_active", "1 for each alarm that is not over.", ["alarm", "subject"]),
  };
}

async function refreshGauges(world: MetricsWorld, gauges: Gauges): Promise<void> {
  const { chains } = world.config;
  const [cursors, counts, open, crossings, primed, webhooks, hints] = await Promise.all([
    listCursors(world.db),
    countDifferences(world.db),
    readOpenRows(world),
    countOpenCrossings(world),
    countOpenAccounts(world.db),
    readWebhookProblems(world),
    readProviderHints(world),
  ]);
  for (const { chain, provider, lastAt } of hints)
    gauges.lastHint.set({ chain, provider }, (lastAt?.getTime() ?? 0) / 1_000);
  const { failing, unnumberedSince, waitingSince } = webhooks;
  gauges.failingEndpoints.set(failing?.count ?? 0);
  gauges.feedAge.set(oldestSeconds(world, unnumberedSince === undefined ? [] : [{ oldest: unnumberedSince }]));
  gauges.webhookWait.set(oldestSeconds(world, waitingSince === undefined ? [] : [{ oldest: waitingSince }]));
  for (const config of chains) {
    const { caip2: chain } = config;
    const labels = { chain };
    setChainGauges(world, gauges, config);
    const cursor = cursors.find((each) => each.chain === chain);
    if (cursor !== undefined) gauges.scanned.set(labels, Number(cursor.number));
    gauges.differences.set(labels, Number(counts.find((each) => each.chain === chain)?.count ?? 0n));
    if (world.chains.get(chain)?.sender.accounts !== undefined)
      gauges.primed.set(labels, Number(primed.find((each) => each.chain === chain)?.count ?? 0n));
    const own = open.filter((row) => row.chain === chain);
    const uncounted = own.filter(({ kind, status }) => kind === "deposit" && status !== "held");
    gauges.uncounted.set(labels, oldestSeconds(world, uncounted));
    const unsettled = own.filter(({ kind }) => kind !== "deposit");
    gauges.unsettled.set(labels, oldestSeconds(world, unsettled));
    for (const status of OPEN_STATES)
      gauges.deposits.set({ chain, status }, countRows(own, { chain, kind: "deposit", status }));
    const burns = crossings.filter((row) => row.chain === chain);
    for (const status of CROSSING_STATES)
      gauges.crossings.set({ chain, status }, burns.find((row) => row.status === status)?.count ?? 0);
    gauges.crossing.set(labels, oldestSeconds(world, burns));
    const headNumber = headOf(world, chain);
    if (headNumber !== undefined && cursor !== undefined)
      gauges.lag.set(labels, Math.max(0, Number(headNumber - cursor.number)));
  }
  const use = world.db.poolUse?.();
  if (use !== undefined) {
    gauges.connections.set({ state: "busy" }, use.open - use.idle);
    gauges.connections.set({ state: "idle" }, use.idle);
    gauges.waiting.set(use.waiting);
  }
  gauges.alarms.reset();
  for (const { alarm, subject } of activeAlarms(world)) gauges.alarms.set({ alarm, subject }, 1);
}

function setChainGauges(world: MetricsWorld, gauges: Gauges, { caip2, native }: ChainConfig): void {
  const chain = world.chains.get(caip2);
  if (chain === undefined) return;
  const { head, gas, gasSpent } = getChainHealth(world, chain);
  const labels = { chain: caip2 };
  if (head !== undefined) gauges.head.set(labels, Number(head.number));
  for (const [provider, count] of chain.providers.failureCounts)
    gauges.providerErrors.set({ chain: caip2, provider }, count);
  gauges.spent.set(labels, toCoins(gasSpent, native.decimals));
  if (gas === undefined) return;
  gauges.balance.set(labels, toCoins(gas.balance, native.decimals));
  const left = settlementsLeft(gas);
  if (left !== undefined) gauges.settlementsLeft.set(labels, Number(left));
}

function oldestSeconds({ clock }: MetricsWorld, rows: readonly { oldest: Date }[]): number {
  const nowMs = clock.now().getTime();
  return Math.max(0, ...rows.map(({ oldest }) => (nowMs - oldest.getTime()) / 1_000));
}

function headOf(world: MetricsWorld, caip2: Caip2): bigint | undefined {
  const chain = world.chains.get(caip2);
  return chain === undefined ? undefined : getChainHealth(world, chain).head?.number;
}

/** Only for display: a double has 15 digits. */
function toCoins(units: bigint, decimals: number): number {
  return Number(units) / 10 ** decimals;
}
