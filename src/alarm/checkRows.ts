import { ROLES } from "../config/operate/roles.ts";
import { isAgreementReason } from "../deposit/deposit.ts";
import { DAY_MS, hasElapsed } from "../kernel/clock.ts";
import { readProviderHints, type ProviderHints } from "../health/providerHints.ts";
import { readOpenRows, type OpenRows } from "../health/openRows.ts";
import { readRowProblems, type RowProblems, type RowWorld } from "../health/rowProblems.ts";
import { readWebhookProblems, type WebhookProblems } from "../health/webhookProblems.ts";
import type { AlarmCondition } from "./alarm.ts";
import { checkCrossings } from "./checkBridge.ts";

const REWOUND_MS = DAY_MS;

/** The alarms that the rows show. */
export async function checkRows(world: RowWorld): Promise<AlarmCondition[]> {
  const [problems, open, crossings, webhooks, hints] = await Promise.all([
    readRowProblems(world),
    readOpenRows(world),
    checkCrossings(world),
    readWebhookProblems(world),
    readProviderHints(world),
  ]);
  return [
    ...problemAlarms(problems),
    ...openRowAlarms(open),
    ...crossings,
    ...webhookAlarms(webhooks),
    ...hintAlarms(hints),
    ...rewindAlarms(problems.rewind, world.clock.now()),
    ...roleAlarms(problems.processes),
  ];
}

function problemAlarms(problems: RowProblems): AlarmCondition[] {
  const { held, differences, unreadable, postponed, quarantined, unshown, unbound, expiring, changes } = problems;
  return [
    ...held.flatMap(({ reason, chain, count }): AlarmCondition[] =>
      isAgreementReason(reason) ? [{ alarm: reason, subject: chain, facts: { chain, deposits: Number(count) } }] : [],
    ),
    ...differences.map(({ chain, count }): AlarmCondition => {
      return { alarm: "balance_differs", subject: chain, facts: { chain, balances: Number(count) } };
    }),
    ...unreadable.map(({ chain, rows, inboxRows, leftOut, reason, inbox }): AlarmCondition => {
      const counts = { rows: Number(rows), namingInboxes: Number(inboxRows), leftOut: Number(leftOut) };
      return { alarm: "unreadable_rows", subject: chain, facts: { chain, ...counts, reason, inbox } };
    }),
    ...postponed.map(({ chain, rows, since, block, chainTx }): AlarmCondition => {
      const first = { since: since.toISOString(), block: String(block), chainTx };
      return { alarm: "dust_waits", subject: chain, facts: { chain, transactions: Number(rows), ...first } };
    }),
    ...quarantined.map(({ chain, count, intent }): AlarmCondition => {
      return { alarm: "intent_quarantined", subject: chain, facts: { chain, intents: Number(count), intent } };
    }),
    ...unshown.map(({ chain, count, ...first }): AlarmCondition => {
      return { alarm: "sweep_not_shown", subject: chain, facts: { chain, settlements: Number(count), ...first } };
    }),
    ...(unbound === 0 ? [] : [{ alarm: "customers_unbound" as const, subject: "", facts: { intents: unbound } }]),
    ...changes.map(({ changeId, account, proposedBy, dueAt }): AlarmCondition => {
      const facts = { changeId, account, proposedBy, dueAt: dueAt.toISOString() };
      return { alarm: "payout_change_waits", subject: changeId, facts };
    }),
    ...expiring.map(({ keyId, account, expiresAt }): AlarmCondition => {
      return { alarm: "key_expires", subject: keyId, facts: { keyId, account, expiresAt: expiresAt.toISOString() } };
    }),
  ];
}

function webhookAlarms({ failing, ...feed }: WebhookProblems): AlarmCondition[] {
  const { unnumberedSince, waitingSince, isBehind } = feed;
  const facts = {
    unnumberedSince: unnumberedSince?.toISOString() ?? null,
    waitingSince: waitingSince?.toISOString() ?? null,
  };
  return [
    ...(failing === undefined
      ? []
      : [
          {
            alarm: "webhook_failing" as const,
            subject: "",
            facts: { endpoints: failing.count, endpoint: failing.endpoint, account: failing.account },
          },
        ]),
    ...(isBehind ? [{ alarm: "feed_behind" as const, subject: "", facts }] : []),
  ];
}

function hintAlarms(hints: readonly ProviderHints[]): AlarmCondition[] {
  return hints.flatMap(({ chain, provider, lastAt, isSilent }): AlarmCondition[] => {
    const facts = { chain, provider, lastAt: lastAt?.toISOString() ?? null };
    return isSilent ? [{ alarm: "hints_silent", subject: `${chain} ${provider}`, facts }] : [];
  });
}

function rewindAlarms(rewind: RowProblems["rewind"], now: Date): AlarmCondition[] {
  if (rewind === undefined || hasElapsed(REWOUND_MS, { since: rewind.beganAt, now })) return [];
  const { epoch, reason, beganAt } = rewind;
  return [{ alarm: "database_rewound", subject: "", facts: { epoch, reason, noticedAt: beganAt.toISOString() } }];
}

/** Where no process reports itself, as in a simulation, nothing is known. */
function roleAlarms(processes: RowProblems["processes"]): AlarmCondition[] {
  if (processes.length === 0) return [];
  const missing = ROLES.filter((role) => !processes.some(({ roles }) => roles.includes(role)));
  return missing.map((role) => ({
    alarm: "role_missing",
    subject: role,
    facts: { role, processes: processes.length },
  }));
}

function openRowAlarms(open: readonly OpenRows[]): AlarmCondition[] {
  const lateDeposits = sumLate(open.filter(({ kind }) => kind === "deposit"));
  const latePayouts = sumLate(open.filter(({ kind }) => kind !== "deposit"));
  return [
    ...open.flatMap(({ chain, kind, status, count, intent }): AlarmCondition[] =>
      kind === "settlement" && status === "held"
        ? [{ alarm: "settlement_held", subject: chain, facts: { chain, settlements: count, intent } }]
        : [],
    ),
    ...latePayouts.map(({ chain, count }): AlarmCondition => {
      return { alarm: "settlements_late", subject: chain, facts: { chain, payouts: count } };
    }),
    ...lateDeposits.map(({ chain, count, intent }): AlarmCondition => {
      return { alarm: "deposits_late", subject: chain, facts: { chain, deposits: count, intent } };
    }),
  ];
}

/** By chain, with one of their intents. */
function sumLate(rows: readonly OpenRows[]): { chain: string; count: number; intent: string }[] {
  const sums = new Map<string, { chain: string; count: number; intent: string }>();
  for (const { chain, late } of rows) {
    if (late === undefined) continue;
    const known = sums.get(chain);
    sums.set(chain, { chain, count: late.count + (known?.count ?? 0), intent: known?.intent ?? late.intent });
  }
  return [...sums.values()];
}
