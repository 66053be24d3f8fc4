import assert from "node:assert/strict";
import { test } from "node:test";
import type { IntentRow } from "../../intent/store.ts";
import { addMs, DAY_MS } from "../../kernel/clock.ts";
import { afterTransaction, LOOK_MS, LOOK_MS_MAX } from "../../priming/primedAccount.ts";
import { nextStep } from "./unusedAccount.ts";

const now = new Date("2026-11-23T12:00:00Z");
const MINIMUM = 10_000n;
const active = { status: "active", pending_count: 0, minimum_units: MINIMUM } as IntentRow;
const empty = { units: 0n, obstacle: undefined };
const over = { keep_until: now, reason: null };

type Change = {
  row?: Partial<Parameters<typeof nextStep>[0]>;
  intent?: Partial<IntentRow>;
  isSettling?: boolean;
  account?: Partial<Parameters<typeof nextStep>[2]["account"]>;
};

function decide({ row, intent, isSettling = false, account }: Change = {}) {
  const inbox = { intent: { ...active, ...intent }, isSettling };
  const step = nextStep({ ...over, ...row }, inbox, { account: { ...empty, ...account }, now });
  return step.kind === "look" ? [step.reason, step.at.getTime() - now.getTime()] : step.kind;
}

test("an account that is gone ends its row, in every state of the intent", () => {
  assert.equal(decide({ account: { units: undefined } }), "end");
  assert.equal(decide({ account: { units: undefined }, isSettling: true, intent: { status: "archived" } }), "end");
});

test("an account is kept while payers look, and closed afterwards or when the intent is not active", () => {
  const row = { keep_until: addMs(now, 1) };
  assert.deepEqual(decide({ row }), [null, LOOK_MS]);
  assert.equal(decide({ row, intent: { status: "settled" } }), "close");
  assert.equal(decide(), "close");
  assert.equal(decide({ row: { keep_until: addMs(now, 3 * DAY_MS) } }), "close", "the clock has stepped back");
});

test("money is left to its settlement, and dust is not", () => {
  assert.deepEqual(decide({ account: { units: MINIMUM } }), ["holds_money", LOOK_MS]);
  assert.deepEqual(decide({ account: { units: 1n }, isSettling: true }), ["holds_money", LOOK_MS]);
  assert.deepEqual(decide({ account: { units: 1n }, intent: { pending_count: 1 } }), ["holds_money", LOOK_MS]);
  assert.equal(decide({ account: { units: MINIMUM - 1n } }), "close");
  assert.equal(decide({ intent: { minimum_units: 0n } }), "close");
});

test("what cannot be closed is looked at less and less often", () => {
  const account = { obstacle: "no_payout_account" };
  assert.deepEqual(decide({ account }), ["no_payout_account", LOOK_MS]);
  const since = (ms: number) => ({ keep_until: addMs(now, -ms) });
  assert.deepEqual(decide({ account, row: since(20 * LOOK_MS) }), ["no_payout_account", 10 * LOOK_MS]);
  assert.deepEqual(decide({ account, row: since(DAY_MS) }), ["no_payout_account", LOOK_MS_MAX]);
});

test("a final closing that leaves the account open is not repeated at once", () => {
  const { status, reason } = afterTransaction("closing", "mined", now);
  assert.equal(status, "open");
  assert.deepEqual(decide({ row: { reason } }), [null, LOOK_MS_MAX]);
  assert.equal(decide({ row: { reason }, account: { units: undefined } }), "end");
});
