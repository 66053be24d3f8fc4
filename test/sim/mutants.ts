// Planted bugs that measure the simulation. Each replaces a text that occurs exactly once in its file.

import { decisionMutants } from "./decisionMutants.ts";
import { crossingMutants } from "./bridge/crossingMutants.ts";
import type { Mutant } from "./mutant.ts";
import { providerMutants } from "./providerMutants.ts";

const store = "src/watch/store/store.ts";

export const mutants: readonly Mutant[] = [
  {
    name: "trust-empty-logs",
    bug: "The reread of a final block does not add transfers that a provider first omitted.",
    patches: [
      {
        path: "src/watch/record/recordMovements.ts",
        search: `  const immutableUpTo = from.reread_number;
  const rows = await writeMovements(tx, { chain: caip2, located: standing, revision, at, immutableUpTo });`,
        replace: `  const immutableUpTo = from.reread_number;
  const rows = await writeMovements(tx, { chain: caip2, located: [], revision, at, immutableUpTo });`,
      },
    ],
  },
  {
    name: "settlements-never-listed-again",
    bug: "Where balances show deposits, a settlement that was omitted twice stays unknown with the deposit that it took.",
    patches: [
      {
        path: "src/watch/accounts/followAccounts.ts",
        search: "for (const step of [rereadSettled, compareOtherTokens]) {",
        replace: "for (const step of [compareOtherTokens]) {",
      },
    ],
  },
  {
    name: "deposits-of-viewers-only",
    bug: "Where balances show deposits, only those of viewed inboxes are compared.",
    patches: [
      {
        path: "src/watch/reconcile/passPages.ts",
        search: "      return readAll(db, query);",
        replace: "      return { inboxes: [], next: undefined };",
      },
    ],
  },
  {
    name: "ignore-reorgs",
    bug: "A reorg removes blocks but keeps their movements.",
    patches: [
      {
        path: store,
        search: `    .where(inBlocksOf(chain))
    .where("block_number", ">", ancestorNumber)`,
        replace: `    .where(inBlocksOf(chain))
    .where("block_number", "<", 0n)
    .where("block_number", ">", ancestorNumber)`,
      },
    ],
  },
  {
    name: "count-before-final",
    bug: "A deposit counts in its first block, without confirmations.",
    patches: [
      {
        path: "src/watch/finality.ts",
        search: `if ("confirmations" in finality) return heights.number - BigInt(finality.confirmations) + 1n;`,
        replace: `if ("confirmations" in finality) return heights.number;`,
      },
    ],
  },
  {
    name: "finality-off-by-one",
    bug: "One confirmation less than required suffices.",
    patches: [
      {
        path: "src/watch/finality.ts",
        search: "return heights.number - BigInt(finality.confirmations) + 1n;",
        replace: "return heights.number - BigInt(finality.confirmations) + 2n;",
      },
    ],
  },
  {
    name: "tier-by-deposit",
    bug: "The limit of a finality tier is compared with each deposit instead of their sum.",
    patches: [
      {
        path: "src/deposit/finality.ts",
        search: "return above.reduce((sum, exposure) => sum + exposure.priceUnits, 0n);",
        replace: "return above.reduce((most, { priceUnits }) => (priceUnits > most ? priceUnits : most), 0n);",
      },
    ],
  },
  {
    name: "read-then-insert",
    bug: "A create reads whether its destination is occupied, and then inserts the intent.",
    patches: [
      {
        path: "src/intent/store.ts",
        search: `      on conflict (\${DESTINATION_COLUMNS.join()})
        where status = 'active' and occupies
      do update set widget_token_hash = excluded.widget_token_hash
        where occupant.price_units is not distinct from excluded.price_units and occupant.one_time = excluded.one_time
`,
        replace: "",
      },
      {
        path: "src/intent/createIntent.ts",
        search: "  for (let tries = 0; tries < TRIES_MAX; tries += 1) {",
        replace: `  const occupant = hasExplicitDestination(input) ? await findOccupant(db, newIntent) : undefined;
  if (occupant !== undefined) return { intent: occupant, isCreated: false, widgetToken };
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {`,
      },
    ],
    statements: ["drop index intent_occupied_destination"],
  },
  {
    name: "hash-only-identity",
    bug: "The transaction alone identifies a deposit.",
    patches: [
      {
        path: "src/watch/movement.ts",
        search: "const identity = requireProof(proof, transfer).identityAt(transfer.place);",
        replace: `const identity = requireProof(proof, transfer) ? "0" : undefined;`,
      },
    ],
  },
  {
    name: "block-wide-place",
    bug: "A deposit's place in the block identifies it, and a reorg changes that place.",
    patches: [
      {
        path: "src/watch/movement.ts",
        search: "const identity = requireProof(proof, transfer).identityAt(transfer.place);",
        replace: "const identity = requireProof(proof, transfer) ? String(transfer.place) : undefined;",
      },
    ],
  },
  {
    name: "event-outside-transaction",
    bug: "Events of deposits are appended after the transaction that changes them.",
    patches: [
      {
        path: "src/deposit/decide/applyDecisions.ts",
        search: "  await appendEvents(tx, world, { events, at });",
        replace: `  setImmediate(() => {
    world.db.transaction((later) => appendEvents(later, world, { events, at })).catch(() => undefined);
  });`,
      },
    ],
  },
  {
    name: "old-proofs-count",
    bug: "A proof from a replaced block is accepted for the requested block.",
    patches: [
      {
        path: "src/watch/movement.ts",
        search: "proof.blockHash !== blockHash || ",
        replace: "",
      },
    ],
  },
  {
    name: "head-moves-back",
    bug: "A lagging provider moves the cursor back.",
    patches: [
      {
        path: "src/watch/follow/readBranch.ts",
        search: `if (head.number < cursor.number || head.hash === cursor.hash) return { kind: "unchanged", head };`,
        replace: `if (head.hash === cursor.hash) return { kind: "unchanged", head };
  if (head.number < cursor.number) return { kind: "contiguous", head, ancestor: head, blocks: [], located: [], suspects: [] };`,
      },
    ],
  },
  {
    name: "fee-rounded-up",
    bug: "The fee of a sweep is rounded up.",
    patches: [
      {
        path: "src/settlement/settlement.ts",
        search: "return { grossUnits, feeUnits, netUnits: grossUnits - feeUnits, otherRecipientUnits, unpaidUnits };",
        replace: `const rounded = feeUnits === 0n ? 0n : feeUnits + 1n;
  return { grossUnits, feeUnits: rounded, netUnits: grossUnits - rounded, otherRecipientUnits, unpaidUnits };`,
      },
    ],
  },
  {
    name: "netted-fee-computed",
    bug: "The fee of netted money is computed from its amount, and not read from what the hub paid.",
    patches: [
      {
        path: "src/settlement/settlement.ts",
        search: "const nettedFeeUnits = viaHub.reduce((sum, { feeUnits }) => sum + (feeUnits ?? 0n), 0n);",
        replace: "const nettedFeeUnits = feeOf(viaHubUnits, 0n, intent.fee_bps);",
      },
    ],
  },
  {
    name: "widget-token-stays",
    bug: "A create that finds its intent returns a widget token that opens nothing.",
    patches: [
      {
        path: "src/intent/store.ts",
        search: "do update set widget_token_hash = excluded.widget_token_hash",
        replace: "do update set widget_token_hash = occupant.widget_token_hash",
      },
    ],
  },
  {
    name: "sweep-takes-what-follows",
    bug: "A sweep also takes deposits that arrived after it.",
    patches: [
      {
        path: "src/deposit/store.ts",
        search: `          and deposit.block_number <= swept.block_number
          and (arrival.block_number, arrival.place) < (swept.block_number, swept.place)
`,
        replace: "",
      },
    ],
  },
  {
    name: "nonce-twice",
    bug: "A reserved nonce is assigned again.",
    patches: [
      {
        path: "src/chain/outgoing/outgoingStore.ts",
        search: ".set({ next_nonce: sql<bigint>`next_nonce + 1` })",
        replace: ".set({ next_nonce: sql<bigint>`greatest(next_nonce, 1)` })",
      },
    ],
  },
  {
    name: "foreign-nonce-waits",
    bug: "A nonce that another transaction used is awaited permanently.",
    patches: [
      {
        path: "src/chain/evm/send/processOutgoingTransactions.ts",
        search: "      return abandonUsedNonce(world, context, outgoing);",
        replace: "      return;",
      },
    ],
  },
  {
    name: "bytes-are-forgotten",
    bug: "Signed bytes are broadcast only once.",
    patches: [
      {
        path: "src/chain/evm/send/processOutgoingTransactions.ts",
        search: "  for (const each of waiting) await broadcast(world, context, each);",
        replace: `  for (const each of waiting) {
    if (each.attempts.every((attempt) => attempt.submitted_at === null)) await broadcast(world, context, each);
  }`,
      },
    ],
  },
  {
    name: "undone-sweep-stays",
    bug: "A settlement stays landed after a reorg drops its transaction.",
    patches: [
      {
        path: "src/settlement/observe/sweepObservation.ts",
        search: `if (before.status !== "landed" && before.status !== "bridging") return;`,
        replace: `if (before.status !== "failed") return;`,
      },
    ],
  },
  {
    name: "dropped-stays-received",
    bug: "Dropped deposits remain in the received amount.",
    patches: [
      {
        path: "src/deposit/deposit.ts",
        search: `return deposit.status === "seen" || deposit.status === "confirmed" || deposit.status === "counted";`,
        replace: `return deposit.status !== "held";`,
      },
    ],
  },
  {
    name: "cursor-skips",
    bug: "The deposit cursor skips a revision.",
    patches: [
      {
        path: "src/handover/consumeMovements.ts",
        search: "    upto: { chain, revision: last.revision, movement_id: last.id },",
        replace: "    upto: { chain, revision: last.revision + 1n, movement_id: last.id },",
      },
    ],
  },
  {
    name: "late-money-waits",
    bug: "Deposits after an intent's settlement are not swept.",
    patches: [
      {
        path: "src/deposit/holding/holdingStore.ts",
        search: "and (current.units >= minimum.units or",
        replace: "and (intent.status <> 'settled' and current.units >= minimum.units or",
      },
    ],
  },
  {
    name: "wrong-payout",
    bug: "An intent pays the account's default wallet instead of the create's wallet.",
    patches: [
      {
        path: "src/intent/createIntent.ts",
        search: "payout_wallet: destination.wallet,",
        replace: "payout_wallet: account.payout_wallet ?? destination.wallet,",
      },
    ],
  },
  {
    name: "fees-without-ceiling",
    bug: "A transaction is signed with whatever fee the providers quote.",
    patches: [
      {
        path: "src/chain/evm/send/fees.ts",
        search: "const isExceeded = priceOf(quote) > feeCeiling.maxFeePerGas;",
        replace: "const isExceeded = priceOf(quote) < 0n;",
      },
      {
        path: "src/chain/evm/send/fees.ts",
        search: "maxFeePerGas: doubled < ceiling ? doubled : ceiling,",
        replace: "maxFeePerGas: doubled,",
      },
    ],
  },
  {
    name: "old-time-waits",
    bug: "What was stored before the database's clock stepped back waits for the former time.",
    patches: [
      {
        path: "src/settlement/store.ts",
        search: "union all ${part(sql`due_from > ${at}`)}",
        replace: "union all ${part(sql`due_from < ${at} and false`)}",
      },
      {
        path: "src/settlement/store.ts",
        search: "${waiting(sql`retry_at > ${addMs(at, RETRY_MS_MAX)}::timestamptz`)}",
        replace: "${waiting(sql`retry_at is null and ${addMs(at, RETRY_MS_MAX)} is null`)}",
      },
      {
        path: "src/db/due.ts",
        search: "return sql<boolean>`(${sql.ref(column)} <= ${now} or ${sql.ref(column)} > ${latest})`;",
        replace: "return sql<boolean>`(${sql.ref(column)} <= ${now} or ${latest}::timestamptz is null)`;",
      },
      {
        path: "src/kernel/clock.ts",
        search: "return addMs(since, waitMs) <= now || since > addMs(now, CLOCK_DIFFERENCE_MS_MAX);",
        replace: "return addMs(since, waitMs) <= now;",
      },
    ],
  },
  {
    name: "bytes-without-end",
    bug: "The signed bytes of transactions that closed long ago are never deleted.",
    patches: [
      {
        path: "src/settlement/purgeTransactions.ts",
        search: "outgoing.closed_at <= ${scope.before} and outgoing.purged_at is null",
        replace: "outgoing.closed_at <= ${scope.before} and outgoing.purged_at is not null",
      },
    ],
  },
  ...providerMutants,
  ...decisionMutants,
  ...crossingMutants,
];
