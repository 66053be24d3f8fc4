import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { insertIntent } from "../../../test/support/intents.ts";
import { openTestDatabase, thoroughDatabase } from "../../../test/support/database.ts";
import { changedFields } from "../changedFields.ts";
import { depositRecord } from "../../deposit/depositRecord.ts";
import { intentRecord } from "../../intent/intentRecord.ts";
import type { IntentRow } from "../../intent/store.ts";
import { settlementRecord } from "../../settlement/change/settlementRecord.ts";
import type { Stored } from "./format.ts";
import { currentFormat, getFormat } from "./formats.ts";
import { PINNED_COLUMNS, type PinnedIntent } from "./pinnedIntent.ts";

type Golden = {
  name: string;
  format: number;
  at: string;
  intent: Record<string, string | null> | null;
  content: Stored;
  /** The bytes of the event's `data`. */
  data: string;
};

const golden = JSON.parse(readFileSync(new URL("golden.json", import.meta.url), "utf8")) as Golden[];

/** Numbers of the database that JSON cannot hold. */
const BIGINTS = ["price_units", "price_token_units", "recover_after"] as const;

function pinnedOf(stored: Golden["intent"]): PinnedIntent | undefined {
  if (stored === null) return undefined;
  const bigints = BIGINTS.map((column) => [column, typeof stored[column] === "string" ? BigInt(stored[column]) : null]);
  const pinned = { ...stored, ...Object.fromEntries(bigints), created_at: new Date(String(stored["created_at"])) };
  return pinned as unknown as PinnedIntent;
}

// An entry is never edited: events of years ago are shown in the same bytes.
for (const { name, format, at, intent, content, data } of golden) {
  test(`${name} is shown in the same bytes`, () => {
    const shown = getFormat(format).show(content, { intent: pinnedOf(intent), at: new Date(at) });
    assert.equal(JSON.stringify(shown), data);
  });
}

test("every format has golden bytes", () => {
  assert.deepEqual(new Set(golden.map(({ format }) => format)), new Set([0, 1, 2, 3, 4]));
});

const at = new Date("2026-11-02T08:00:00.123Z");

/** What an event shows after it was stored. */
function storeAndShow(intent: IntentRow, object: object, previous: object | null): string {
  const format = getFormat(currentFormat(object));
  const content = JSON.parse(JSON.stringify(format.store(object, previous, at.getTime()))) as Stored;
  const pinned = Object.fromEntries(PINNED_COLUMNS.map((column) => [column, intent[column]])) as PinnedIntent;
  return JSON.stringify(format.show(content, { intent: pinned, at }));
}

test("an event shows exactly the record of its resource, with the order of its fields", async (t) => {
  const db = await openTestDatabase(thoroughDatabase);
  t.after(() => db.close());
  const metadata = { order: "7", 10: [1.5, null, { z: "ä", a: true }] };
  const evm = await insertIntent(db, {
    price_units: 5n,
    price_token_units: 5n,
    metadata,
    merchant_reference: "order 7",
  });
  const solana = await insertIntent(db, SOLANA_PAYOUT);
  const context = { baseUrl: "https://pay.example/base" };
  for (const intent of [evm, solana]) {
    const before = intentRecord(intent, context);
    const after = intentRecord({ ...intent, status: "settled", counted_units: 2n ** 70n, settled_at: at }, context);
    const previous = changedFields(before, after);
    assert.deepEqual(Object.keys(previous), ["status", "paymentStatus", "amounts", "settledAt"]);
    assert.equal(storeAndShow(intent, before, null), JSON.stringify({ object: before, previous: null }));
    assert.equal(storeAndShow(intent, after, previous), JSON.stringify({ object: after, previous }));
    for (const [object, earlier] of [depositPair(intent), settlementPair(intent)] as const) {
      const changed = changedFields(earlier, object);
      assert.equal(storeAndShow(intent, object, changed), JSON.stringify({ object, previous: changed }));
      assert.equal(storeAndShow(intent, object, null), JSON.stringify({ object, previous: null }));
    }
  }
});

const SOLANA_PAYOUT = {
  payout_namespace: "solana" as const,
  payout_chain_reference: "EtWTRABZaYq6iMfeYKouRu166VU2xqa1",
  payout_wallet: "7Np41oeYqPefeNQEHSv1UDhYrehxin3NStELsSKCT4K2",
  payout_token: "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
  fee_recipient: "4fYNw3dojWmQ4dXtSGE9epjRGy9pFSx62YypT7avPYvA",
  recovery: "7Np41oeYqPefeNQEHSv1UDhYrehxin3NStELsSKCT4K2",
  inbox_hub: "GfDCWiqCRNJiJtrQPoBTHP9L7iH1fvHqNNkDjiPJbq1V",
  inbox_implementation: "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA",
};

function depositPair(intent: IntentRow): [object, object] {
  const isEvm = intent.payout_namespace === "eip155";
  const chain = isEvm ? "eip155:31337" : "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1";
  const deposit = {
    id: "dep_0123456789abcdefghjkmnpqrs",
    intent_id: intent.id,
    chain,
    token: intent.payout_token,
    token_decimals: 6,
    sender: isEvm ? "0x70997970c51812dc3a010c7d01b50e0d17dc79c8" : intent.payout_wallet,
    amount_units: 2n ** 200n,
    counted_units: 5_000_000n,
    status: "counted",
    reason: null,
    late: true,
    chain_tx: isEvm
      ? `0x${"0a".repeat(32)}`
      : "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW",
    identity: "3",
    block_number: 19_000_000n,
    block_hash: isEvm ? `0x${"00".repeat(31)}ff` : "GHtXQBsoZHVnNFa9YevAzFr17DJjgHXk3ycTKD5xD3Zi",
    required_confirmations: 12,
    required_seconds: null,
    settlement_id: "set_0123456789abcdefghjkmnpqrs",
    seen_at: new Date("2026-11-02T07:59:00.001Z"),
    counted_at: at,
  } as const;
  const shown = { symbol: "USD₮", headNumber: 19_000_011n };
  const earlier = depositRecord(
    { ...deposit, status: "seen", counted_units: 0n, settlement_id: null, counted_at: null, reason: "reorg" },
    { ...shown, headNumber: 19_000_000n },
  );
  const record = depositRecord(deposit, shown);
  return [isEvm ? { ...record, depositCount: 4 } : record, earlier];
}

function settlementPair(intent: IntentRow): [object, object] {
  const isEvm = intent.payout_namespace === "eip155";
  const chain = isEvm ? ("eip155:31337" as const) : ("solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1" as const);
  const settlement = {
    id: "set_0123456789abcdefghjkmnpqrs",
    intent_id: intent.id,
    chain,
    token: intent.payout_token,
    status: "landed" as const,
    gross_units: 10n,
    fee_units: 1n,
    route_cost_units: 0n,
    net_units: 9n,
    reason: null,
    chain_tx: `0x${"1b".repeat(32)}`,
    block_number: 7n,
    landed_chain: "eip155:10" as const,
    landed_chain_tx: `0x${"2c".repeat(32)}`,
    landed_block_number: null,
    created_at: new Date("2026-11-01T00:00:00Z"),
    submitted_at: new Date("2026-11-02T00:00:00Z"),
    landed_at: at,
  };
  const row = settlement as unknown as Parameters<typeof settlementRecord>[0];
  const earlier = { ...row, status: "submitted" as const, chain_tx: null, landed_chain: null, landed_at: null };
  return [settlementRecord(row), settlementRecord(earlier)];
}
