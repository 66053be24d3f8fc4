import { listTokenProblems } from "../chain/tokenProblems.ts";
import { classifyError, isDatabaseAway } from "../kernel/errors/classifyError.ts";
import { alarmRow, type AlarmName } from "../kernel/alarm/alarmTable.ts";
import { hasRole } from "../config/operate/roles.ts";
import { sampleChains } from "../health/sampleChain.ts";
import { sampleHost } from "../health/sampleHost.ts";
import { takeIncidents } from "../kernel/alarm/raiseAlarm.ts";
import { addMs } from "../kernel/clock.ts";
import type { MemorySlot } from "../kernel/processMemory.ts";
import type { World } from "../world.ts";
import type { ActiveAlarm, AlarmCondition } from "./alarm.ts";
import { checkBridge } from "./checkBridge.ts";
import { checkChain } from "./checkChain.ts";
import { checkHost } from "./checkHost.ts";
import { checkNetworks } from "./checkNetworks.ts";
import { checkRows } from "./checkRows.ts";
import { sendAlarm } from "./sendAlarm.ts";

/** An incident has no end that could be observed, so it is over this long after it was last raised. */
const INCIDENT_MS = 3_600_000;
/** Callers without the loop of alarms check rows themselves when the last check is older. */
const FRESH_MS = 20_000;

/** `checks`: what was found about the checks themselves. */
type CheckName = "rows" | "chains" | "networks" | "bridge" | "host" | "incidents" | "checks";
type AlarmEntry = ActiveAlarm & { readonly check: CheckName; readonly until?: Date };
type AlarmRegistry = {
  entries: Map<string, AlarmEntry>;
  checkedAtMs: number | undefined;
  /** When the first of the regular checks began, which is when the service started. */
  startedAtMs: number | undefined;
};

const REGISTRY: MemorySlot<AlarmRegistry> = {
  create: () => ({ entries: new Map(), checkedAtMs: undefined, startedAtMs: undefined }),
};

export type AlarmWorld = Pick<
  World,
  "db" | "clock" | "config" | "catalog" | "chains" | "memory" | "log" | "hostMetrics"
>;

/**
 * Runs every check. Logs each new alarm once as `error` and its end as `info`, and sends both to the configured
 * receivers. A check that cannot run leaves its alarms as they are.
 */
export async function updateAlarms(world: AlarmWorld): Promise<void> {
  const registry = world.memory.get(REGISTRY);
  registry.startedAtMs ??= world.clock.monotonicMs();
  const found = await runChecks(world);
  const changes = [...found].flatMap((result) => replaceEntries(world, registry, result));
  changes.push(...updateIncidents(world, registry));
  registry.checkedAtMs = world.clock.monotonicMs();
  await Promise.all(changes.map((change) => report(world, change)));
}

/**
 * The alarms that are not over. Runs every check when this process does not run them regularly; it then reports
 * nothing.
 */
export async function readAlarms(world: AlarmWorld): Promise<ActiveAlarm[]> {
  if (isFresh(world)) return activeAlarms(world);
  const since = world.clock.now();
  return [...(await runChecks(world)).values()].flat().map((condition) => ({ ...condition, since }));
}

type Check = (world: AlarmWorld) => Promise<AlarmCondition[]>;

const CHECKS: ReadonlyMap<CheckName, Check> = new Map<CheckName, Check>([
  [
    "host",
    async (world) => (world.hostMetrics === undefined ? [] : checkHost(await sampleHost(world, world.hostMetrics))),
  ],
  ["bridge", async (world) => checkBridge(world)],
  ["rows", checkRows],
  ["chains", checkChains],
  ["networks", checkNetworks],
]);

/** What each check found. One that fails is left out, so that its alarms stay as they are. */
async function runChecks(world: AlarmWorld): Promise<Map<CheckName, AlarmCondition[]>> {
  const found = new Map<CheckName, AlarmCondition[]>();
  const failed = new Map<string, AlarmCondition>();
  for (const [name, check] of CHECKS) {
    try {
      found.set(name, await check(world));
    } catch (error) {
      if (classifyError(error) === "fatal") throw error;
      const alarm = isDatabaseAway(error) ? "database_unavailable" : "check_failed";
      const subject = alarm === "check_failed" ? name : "";
      failed.set(keyOf({ alarm, subject }), { alarm, subject, facts: { reason: messageOf(error) } });
    }
  }
  found.set("checks", [...failed.values()]);
  return found;
}

/** A process that neither watches nor settles asks no providers. */
async function checkChains(world: AlarmWorld): Promise<AlarmCondition[]> {
  if (!hasRole(world.config, "watch") && !hasRole(world.config, "settle")) return [];
  const { startedAtMs } = world.memory.get(REGISTRY);
  const runningMs = startedAtMs === undefined ? undefined : world.clock.monotonicMs() - startedAtMs;
  return (await sampleChains(world)).flatMap((sample) =>
    checkChain({ sample, runningMs, tokenProblems: listTokenProblems(world, sample.chain.caip2) }),
  );
}

/**
 * The alarms that are not over, oldest first. Without a recent check it checks the rows first. Rejects when the
 * database does not answer.
 */
export async function listActiveAlarms(
  world: Pick<World, "db" | "clock" | "config" | "memory">,
): Promise<ActiveAlarm[]> {
  const registry = world.memory.get(REGISTRY);
  if (isFresh(world)) return activeAlarms(world);
  const since = world.clock.now();
  const rows = (await checkRows(world)).map((condition) => ({ ...condition, since }));
  return [...activeAlarms(world).filter((alarm) => !isFromRows(registry, alarm)), ...rows];
}

function isFresh({ clock, memory }: Pick<World, "clock" | "memory">): boolean {
  const { checkedAtMs } = memory.get(REGISTRY);
  return checkedAtMs !== undefined && clock.monotonicMs() - checkedAtMs < FRESH_MS;
}

/** The alarms in this process's memory, oldest first. */
export function activeAlarms({ memory }: Pick<World, "memory">): ActiveAlarm[] {
  return [...memory.get(REGISTRY).entries.values()]
    .map(({ alarm, subject, facts, since }) => ({ alarm, subject, facts, since }))
    .toSorted((one, other) => one.since.getTime() - other.since.getTime());
}

/** An alarm with the texts of its row, for answers and notices. */
export function describeAlarm({ alarm, subject, since, facts }: ActiveAlarm) {
  const { happened, affects, remedy } = alarmRow(alarm);
  return { alarm, subject, since: since.toISOString(), happened, affects, remedy, facts };
}

function isFromRows(registry: AlarmRegistry, { alarm, subject }: ActiveAlarm): boolean {
  return registry.entries.get(keyOf({ alarm, subject }))?.check === "rows";
}

type AlarmChange = { entry: AlarmEntry; isOver: boolean };

function replaceEntries(
  world: AlarmWorld,
  registry: AlarmRegistry,
  [check, conditions]: readonly [check: CheckName, conditions: readonly AlarmCondition[]],
): AlarmChange[] {
  const now = world.clock.now();
  const present = new Set(conditions.map(keyOf));
  const over = [...registry.entries].filter(([key, entry]) => entry.check === check && !present.has(key));
  for (const [key] of over) registry.entries.delete(key);
  const raised = conditions.flatMap((condition) => {
    const key = keyOf(condition);
    const known = registry.entries.get(key);
    const entry: AlarmEntry = { ...condition, check, since: known?.since ?? now };
    registry.entries.set(key, entry);
    return known === undefined ? [{ entry, isOver: false }] : [];
  });
  return [...over.map(([, entry]) => ({ entry, isOver: true })), ...raised];
}

function updateIncidents(world: AlarmWorld, registry: AlarmRegistry): AlarmChange[] {
  const now = world.clock.now();
  const until = addMs(now, INCIDENT_MS);
  const raised = takeIncidents(world.log).flatMap(({ alarm, subject }): AlarmChange[] => {
    if (alarmRow(alarm).source !== "code") return [];
    const key = keyOf({ alarm, subject });
    const known = registry.entries.get(key);
    const entry: AlarmEntry = { alarm, subject, facts: {}, since: known?.since ?? now, check: "incidents", until };
    registry.entries.set(key, entry);
    return known === undefined ? [{ entry, isOver: false }] : [];
  });
  const over = [...registry.entries].filter(([, entry]) => entry.until !== undefined && entry.until <= now);
  for (const [key] of over) registry.entries.delete(key);
  return [...raised, ...over.map(([, entry]) => ({ entry, isOver: true }))];
}

async function report(world: AlarmWorld, { entry, isOver }: AlarmChange): Promise<void> {
  const described = describeAlarm(entry);
  const { alarm, subject, happened, affects, remedy } = described;
  const fields = { alarm, subject, ...entry.facts };
  const isLoggedByCode = alarmRow(alarm).source !== "checks";
  if (isOver) world.log.info({ ...fields, since: described.since }, "an alarm is over");
  else if (!isLoggedByCode) world.log.error({ ...fields, affects, remedy }, happened);
  const text = isOver ? `Over: ${alarm} ${subject}` : `${alarm} ${subject}: ${happened} ${affects} ${remedy}`;
  const { baseUrl } = world.config;
  const runbookUrl = `${baseUrl}/docs/operate/alarms#${alarm}`;
  await sendAlarm(world, { state: isOver ? "over" : "raised", ...described, baseUrl, runbookUrl, text });
}

function keyOf({ alarm, subject }: { alarm: AlarmName; subject: string }): string {
  return `${alarm} ${subject}`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
