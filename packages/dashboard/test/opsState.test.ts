import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { buildPages } from "../scripts/buildPages.ts";
import { commandsOf, decideVerdict, orderAlarms, type OpsAlarm, type OpsState } from "../src/ops/opsState.ts";
import { renderOpsDocument } from "../src/ops/renderOpsDocument.ts";

const NOW = "2026-11-27T12:00:00.000Z";

const alarm = (change: Partial<OpsAlarm>): OpsAlarm => ({
  alarm: "gas_empty",
  subject: "eip155:1",
  chainName: "One",
  since: NOW,
  happened: "The gas account cannot pay one settlement.",
  affects: "Merchants paid on this chain: payouts wait.",
  remedy: "Send coins. `tributary doctor` shows its address.",
  facts: {},
  ...change,
});

const STATE: OpsState = {
  installation: { host: "pay.example", environment: "live", version: "0.1.0", nodeVersion: "24" },
  readAt: NOW,
  ageMs: 0,
  failure: null,
  alarmKinds: 56,
  alarms: [],
  ratesMs: 3_600_000,
  road: [],
  chains: [],
  transactions: [],
  crossings: [],
  held: { count: 0, shown: [] },
  books: { differences: 0, passes: [] },
  processes: [],
  database: null,
  endpoints: [],
};

test("the built files are those of the sources", async () => {
  const read = (file: string) => readFile(new URL(`../${file}`, import.meta.url), "utf8");
  for (const [file, content] of Object.entries(await buildPages()))
    assert.ok((await read(file)) === `${content}\n`, `${file} is stale: npm run page -w packages/dashboard`);
});

test("all is well only while it is known, and only where nobody is affected", () => {
  const nobody = alarm({ affects: "Nobody yet. Payouts wait when it is empty." });
  assert.deepEqual(decideVerdict(STATE, 30_000), { kind: "well", toWatch: 0 });
  assert.deepEqual(decideVerdict(STATE, 30_001), { kind: "unknown" });
  assert.deepEqual(decideVerdict({ ...STATE, readAt: null }, 0), { kind: "unknown" });
  assert.deepEqual(decideVerdict({ ...STATE, alarms: [nobody] }, 0), { kind: "well", toWatch: 1 });
  assert.deepEqual(decideVerdict({ ...STATE, alarms: [nobody, alarm({})] }, 0), {
    kind: "needed",
    count: 1,
    toWatch: 1,
  });
});

test("an alarm that affects somebody stands first, then the oldest, and the command names its intent", () => {
  const watched = alarm({ alarm: "gas_low", affects: "Nobody yet.", since: "2026-11-27T10:00:00.000Z" });
  const young = alarm({ subject: "young" });
  const old = alarm({ subject: "old", since: "2026-11-27T11:00:00.000Z" });
  assert.deepEqual(orderAlarms([watched, young, old]), [old, young, watched]);
  const remedy = "Read it. `tributary intents show <intentId>`, then `tributary doctor`; set `rpcUrls`.";
  assert.deepEqual(commandsOf(alarm({ remedy, facts: { intent: "pi_1" } })), [
    "npx tributary intents show pi_1",
    "npx tributary doctor",
  ]);
});

test("texts of alarms stay texts, and old numbers are dated", () => {
  const hostile = alarm({ subject: `<img src=x onerror="alert(1)">`, facts: { reason: "</script><script>1" } });
  const html = renderOpsDocument({ ...STATE, alarms: [hostile], ageMs: 31_000 }, "xx", NOW);
  assert.ok(!html.includes("<img") && !html.includes("<script>1"), "nothing is parsed as HTML");
  assert.match(html, /<h1 id="now">Not known<\/h1>/);
  assert.match(html, /What stands below is from/);
});
