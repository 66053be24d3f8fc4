import { cctpV2Speeds } from "@tributary/inbox/cctpV2";
import { findServiceFailure } from "../bridge/askService.ts";
import { listKnownFees } from "../bridge/fees.ts";
import { listRefusedPayers } from "../bridge/refusedPayers.ts";
import type { RouteSpeed } from "../catalog/routes.ts";
import { hasElapsed } from "../kernel/clock.ts";
import { readWaitingCrossings, type CrossingWorld, type WaitingCrossings } from "../health/openCrossings.ts";
import type { World } from "../world.ts";
import type { AlarmCondition } from "./alarm.ts";

const SERVICE_SILENT_MS = 600_000;
/** A fee above this part of a pinned cap leaves little room for the next rise. */
const NEAR_CAP = { part: 2, parts: 3 } as const;

/** The alarms about crossings that wait too long. Reads the open ones only, by their partial indexes. */
export async function checkCrossings(world: CrossingWorld): Promise<AlarmCondition[]> {
  if (world.config.bridge === undefined) return [];
  const { late, unreceived, unknown, postponed } = await readWaitingCrossings(world);
  return [
    ...postponed.map((row) =>
      toCondition("crossing_postponed", row.settleChain, { ...row, reason: row.reason ?? "not_landed_yet" }),
    ),
    ...unknown.map(({ chain, burns, ...first }): AlarmCondition => {
      return { alarm: "burn_unknown", subject: chain, facts: { chain, mints: Number(burns), ...first } };
    }),
    ...late.map((row) => toCondition("crossing_late", row.chain, { ...row, reason: row.reason ?? "not_signed_yet" })),
    ...unreceived.map((row) =>
      toCondition("crossing_not_received", row.settleChain, { ...row, reason: row.reason ?? "not_landed_yet" }),
    ),
  ];
}

type NamedWaiting = WaitingCrossings & { reason: string };

function toCondition(
  alarm: "crossing_late" | "crossing_not_received" | "crossing_postponed",
  subject: string,
  { chain, settleChain, count, intent, reason }: NamedWaiting,
): AlarmCondition {
  return { alarm, subject, facts: { chain, settleChain, crossings: Number(count), intent, reason } };
}

export type BridgeCheckWorld = Pick<World, "clock" | "config" | "catalog" | "memory">;

/** The alarms about the bridge itself, from what this process has last learned of its service. */
export function checkBridge(world: BridgeCheckWorld): AlarmCondition[] {
  const refused = listRefusedPayers(world).map(({ chain, payer, reason }): AlarmCondition => {
    return { alarm: "bridge_refuses_payer", subject: chain, facts: { chain, payer, reason } };
  });
  return [...checkService(world), ...checkFees(world), ...refused];
}

function checkService(world: BridgeCheckWorld): AlarmCondition[] {
  const failure = findServiceFailure(world);
  const { bridge } = world.config;
  if (bridge === undefined || failure === undefined) return [];
  const { since, reason } = failure;
  if (!hasElapsed(SERVICE_SILENT_MS, { since, now: world.clock.now() })) return [];
  const { host } = new URL(bridge.attestationUrl);
  return [{ alarm: "bridge_unavailable", subject: host, facts: { host, failingSince: since.toISOString(), reason } }];
}

function checkFees(world: BridgeCheckWorld): AlarmCondition[] {
  return listKnownFees(world).flatMap(({ chain, settleChain, fastPpm, standardPpm }) => [
    ...nearCap({ chain, settleChain }, "fast", fastPpm),
    ...nearCap({ chain, settleChain }, "standard", standardPpm),
  ]);
}

function nearCap(
  pair: { chain: string; settleChain: string },
  speed: RouteSpeed,
  feePpm: number | undefined,
): AlarmCondition[] {
  const capPpm = cctpV2Speeds[speed].feePpmMax;
  if (feePpm === undefined || feePpm * NEAR_CAP.parts < capPpm * NEAR_CAP.part) return [];
  const subject = `${pair.chain} ${pair.settleChain} ${speed}`;
  return [{ alarm: "bridge_fee_near_cap", subject, facts: { ...pair, speed, feePpm, capPpm } }];
}
