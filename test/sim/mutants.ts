// Bugs that were planted to see whether a simulation finds them. Each replaces a text that stands exactly once in its file.

export type Patch = { path: string; search: string; replace: string };

export type Mutant = {
  name: string;
  /** What the bug is, in a sentence. */
  bug: string;
  patches: readonly Patch[];
  /** What it takes away in the database. */
  statements?: readonly string[];
};

const store = "src/watch/store/store.ts";

export const mutants: readonly Mutant[] = [
  {
    name: "trust-empty-logs",
    bug: "What a provider left out the first time is not looked for when its block is final.",
    patches: [
      {
        path: "src/watch/reread/rereadFinal.ts",
        search:
          "const rewritten = await writeMovements(tx, { chain: chain.caip2, located: canonical, revision, at, immutableUpTo });",
        replace:
          "const rewritten = await writeMovements(tx, { chain: chain.caip2, located: [], revision, at, immutableUpTo });",
      },
    ],
  },
  {
    name: "ignore-reorgs",
    bug: "Blocks are taken back, and the movements in them stay.",
    patches: [
      {
        path: store,
        search: `    .where("chain", "=", chain)
    .where("block_number", ">", ancestorNumber)`,
        replace: `    .where("chain", "=", chain)
    .where("block_number", "<", 0n)
    .where("block_number", ">", ancestorNumber)`,
      },
    ],
  },
  {
    name: "count-before-final",
    bug: "A deposit is counted in the block that shows it.",
    patches: [
      {
        path: "src/watch/finality.ts",
        search: `if ("confirmations" in finality) return number - BigInt(finality.confirmations) + 1n;`,
        replace: `if ("confirmations" in finality) return number;`,
      },
    ],
  },
  {
    name: "finality-off-by-one",
    bug: "One confirmation less than asked for is enough.",
    patches: [
      {
        path: "src/watch/finality.ts",
        search: "return number - BigInt(finality.confirmations) + 1n;",
        replace: "return number - BigInt(finality.confirmations) + 2n;",
      },
    ],
  },
  {
    name: "tier-by-deposit",
    bug: "The limit of a finality tier is compared with each deposit instead of their sum.",
    patches: [
      {
        path: "src/deposit/finality.ts",
        search: "const atRiskUnits = atRisk.reduce((sum, exposure) => sum + exposure.priceUnits, 0n);",
        replace:
          "const atRiskUnits = atRisk.reduce((most, { priceUnits }) => (priceUnits > most ? priceUnits : most), 0n);",
      },
    ],
  },
  {
    name: "read-then-insert",
    bug: "Whether a destination is taken is read first, and then the intent is inserted.",
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
    bug: "A deposit is known by its transaction alone.",
    patches: [
      {
        path: "src/watch/movement.ts",
        search: "const identity = proof?.identityAt(place);",
        replace: `const identity = proof ? "0" : undefined;`,
      },
    ],
  },
  {
    name: "block-wide-place",
    bug: "A deposit is known by its place in the block, which changes when it is mined again.",
    patches: [
      {
        path: "src/watch/movement.ts",
        search: "const identity = proof?.identityAt(place);",
        replace: "const identity = proof ? String(place) : undefined;",
      },
    ],
  },
  {
    name: "event-outside-transaction",
    bug: "What became of deposits is told after the transaction that changed them.",
    patches: [
      {
        path: "src/deposit/applyDepositChanges.ts",
        search: "  await appendEvents(tx, world, { events, at: input.at });",
        replace: `  setImmediate(() => {
    world.db.transaction((later) => appendEvents(later, world, { events, at: input.at })).catch(() => undefined);
  });`,
      },
    ],
  },
  {
    name: "old-proofs-count",
    bug: "A proof of a block that was left is as good as one of the block that is asked about.",
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
    bug: "A provider that lags moves the cursor back.",
    patches: [
      {
        path: "src/watch/follow/readBranch.ts",
        search: `if (head.number < cursor.number || head.hash === cursor.hash) return { kind: "still", head };`,
        replace: `if (head.hash === cursor.hash) return { kind: "still", head };
  if (head.number < cursor.number) return { kind: "near", head, ancestor: head, blocks: [], located: [], suspects: [] };`,
      },
    ],
  },
  {
    name: "fee-rounded-up",
    bug: "The fee of a sweep is rounded up.",
    patches: [
      {
        path: "src/settlement/settlement.ts",
        search: "return { grossUnits, feeUnits, netUnits: grossUnits - feeUnits, otherRecipientUnits };",
        replace: `const rounded = feeUnits === 0n ? 0n : feeUnits + 1n;
  return { grossUnits, feeUnits: rounded, netUnits: grossUnits - rounded, otherRecipientUnits };`,
      },
    ],
  },
  {
    name: "widget-token-stays",
    bug: "A create that finds its intent hands out a token that opens nothing.",
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
    bug: "A sweep is given what came in after it, too.",
    patches: [
      {
        path: "src/settlement/store.ts",
        search: "      and (arrival.block_number, arrival.place) < (${blockNumber}, ${placeLast})\n      and (arrival",
        replace: "      and (arrival",
      },
    ],
  },
  {
    name: "nonce-twice",
    bug: "A nonce that was given out is given out again.",
    patches: [
      {
        path: "src/chain/evm/send/outgoingStore.ts",
        search: ".set({ next_nonce: sql<bigint>`next_nonce + 1` })",
        replace: ".set({ next_nonce: sql<bigint>`greatest(next_nonce, 1)` })",
      },
    ],
  },
  {
    name: "foreign-nonce-waits",
    bug: "A nonce that somebody else has used is waited for, for ever.",
    patches: [
      {
        path: "src/chain/evm/send/processOutgoingTransactions.ts",
        search: "      return abandonUsedNonce(world, context, outgoing);",
        replace: "      return;",
      },
    ],
  },
  {
    name: "no-better-pay",
    bug: "A transaction that nobody wants is never paid better.",
    patches: [
      {
        path: "src/chain/evm/send/processOutgoingTransactions.ts",
        search: "isOurs && isStuck(world, outgoing) ?",
        replace: "isOurs && world === undefined ?",
      },
    ],
  },
  {
    name: "bytes-are-forgotten",
    bug: "Signed bytes are broadcast once, and never again.",
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
    bug: "A settlement whose transaction a reorg took away stays landed.",
    patches: [
      {
        path: "src/settlement/observeSettlements.ts",
        search: `if (before?.status !== "landed") return;`,
        replace: `if (before !== undefined) return;`,
      },
    ],
  },
  {
    name: "dropped-stays-received",
    bug: "What a reorg dropped goes on being part of what was received.",
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
    bug: "The hand-over passes a revision that it has not seen yet.",
    patches: [
      {
        path: "src/deposit/processMovements.ts",
        search: "const nextCursor = { chain, revision: last.revision, movement_id: last.id };",
        replace: "const nextCursor = { chain, revision: last.revision + 1n, movement_id: last.id };",
      },
    ],
  },
  {
    name: "late-money-waits",
    bug: "Money that came after its intent was settled is not swept.",
    patches: [
      {
        path: "src/settlement/store.ts",
        search: "(sum(deposit.amount_units) >= min(intent.minimum_units)",
        replace: "(not bool_and(deposit.late) and sum(deposit.amount_units) >= min(intent.minimum_units)",
      },
    ],
  },
  {
    name: "wrong-payout",
    bug: "An intent pins the account's default wallet, whatever the create named.",
    patches: [
      {
        path: "src/intent/createIntent.ts",
        search: "payout_wallet: destination.wallet,",
        replace: "payout_wallet: account.payout_wallet ?? destination.wallet,",
      },
    ],
  },
  {
    name: "one-provider-is-believed",
    bug: "What a single provider tells is counted, whatever agreement is asked for.",
    patches: [
      {
        path: "src/deposit/agreement.ts",
        search: "if (units > agreement.abovePriceUnits) for (",
        replace: "if (units > agreement.abovePriceUnits + 10n ** 30n) for (",
      },
    ],
  },
  {
    name: "pushed-head-is-believed",
    bug: "A head that was pushed is recorded without the word of whoever tells what it holds.",
    patches: [
      {
        path: "src/watch/follow/followHeads.ts",
        search: "if (block?.number !== head.number || block.parentHash !== head.parentHash)",
        replace: "if (block === undefined && head.number < 0n)",
      },
    ],
  },
];
