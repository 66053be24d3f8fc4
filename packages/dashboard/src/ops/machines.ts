import { h, type Child, type VElement } from "@tributary/checkout/vnode";
import { formatAge, formatBytes, groupDigits } from "../format.ts";
import { command, facts, idText, inside, moment, panel, tag } from "../parts/parts.ts";
import { table } from "../parts/table.ts";
import { nothing } from "./money.ts";
import type { OpsContext } from "./opsContext.ts";
import type { OpsState } from "./opsState.ts";

// What runs: processes, the database, and the endpoints that wait.

export function processesView({ t, times }: OpsContext, { processes }: OpsState): VElement {
  const columns = [
    { label: t.text("proc.id") },
    { label: t.text("proc.roles") },
    { label: t.text("proc.version") },
    { label: t.text("proc.up"), isNumber: true },
  ];
  const rows = processes.map(({ id, roles, version, startedAt }) => ({
    cells: [idText(id, true), roles.join(", "), version, moment(startedAt, times)],
  }));
  return panel(
    { id: "proc", title: t.text("proc.heading"), isSlim: true },
    rows.length === 0 ? nothing(t.text("proc.none")) : table(t.text("proc.heading"), columns, rows),
  );
}

export function databaseView({ t }: OpsContext, { database }: OpsState): VElement {
  const rows: [string, Child][] = [];
  if (database !== null) {
    const { kind, sizeBytes, connections, oldestTransactionMs, freeBytes, clockDifferenceMs } = database;
    rows.push([t.text("db.kind"), kind === "postgres" ? "PostgreSQL" : t.text("db.embedded")]);
    if (sizeBytes !== null) rows.push([t.text("db.size"), formatBytes(sizeBytes)]);
    if (connections !== null) rows.push([t.text("db.connections"), t.text("db.of", connections)]);
    if (oldestTransactionMs !== null) rows.push([t.text("db.oldest"), formatAge(oldestTransactionMs)]);
    if (freeBytes !== null) rows.push([t.text("db.free"), formatBytes(freeBytes)]);
    if (clockDifferenceMs !== null)
      rows.push([t.text("db.clock"), t.text("db.differs", { ms: groupDigits(String(clockDifferenceMs)) })]);
  }
  const state =
    database === null
      ? tag("fail", t.text("db.silent"))
      : tag("ok", t.text("db.answers", { ms: database.answerMs.toFixed(1) }));
  return panel({ id: "db", title: t.text("db.heading"), side: state }, rows.length > 0 && inside(facts(rows)));
}

export function endpointsView({ t, times }: OpsContext, { endpoints }: OpsState): VElement {
  const columns = [
    { label: t.text("hooks.endpoint") },
    { label: t.text("hooks.merchant") },
    { label: t.text("hooks.waiting"), isNumber: true },
    { label: t.text("hooks.failing") },
    { label: t.text("hooks.status") },
  ];
  const rows = endpoints.map(({ endpointId, host, accountName, status, failingSince, waitingMs }) => ({
    cells: [
      [h("bdi", { translate: "no" }, host), h("br"), h("span.small.dim", {}, idText(endpointId, true))],
      h("bdi", {}, accountName),
      waitingMs === null ? "–" : formatAge(waitingMs),
      failingSince === null ? "–" : moment(failingSince, times),
      tag(status === "enabled" ? (failingSince === null ? "ok" : "part") : "fail", status),
    ],
  }));
  return panel(
    { id: "hooks", title: t.text("hooks.heading"), isSlim: true },
    rows.length === 0 ? nothing(t.text("hooks.none")) : table(t.text("hooks.heading"), columns, rows),
  );
}

/** Commands that an operator reaches for. */
export function commandsView({ t }: OpsContext): VElement {
  const rows = [
    ["acts.rescan", "npx tributary rescan pi_…"],
    ["acts.origin", "npx tributary origins disable …"],
    ["acts.suspend", "npx tributary accounts suspend acct_…"],
    ["acts.doctor", "npx tributary doctor"],
    ["acts.watch", "npx tributary watch status --follow"],
    ["acts.ledger", "npx tributary doctor --ledger"],
  ] as const;
  return panel(
    { id: "acts", title: t.text("acts.heading"), side: t.text("acts.side") },
    inside(
      facts(
        rows.map(([key, text]) => [t.text(key), command(text, t.text("cmd.copy"))]),
        "kv two",
      ),
    ),
  );
}
