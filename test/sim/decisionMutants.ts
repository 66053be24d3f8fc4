import type { Mutant } from "./mutant.ts";

/** Planted bugs of the decision about an intent, and of what its page asks for. */
export const decisionMutants: readonly Mutant[] = [
  {
    name: "other-chains-expose-nothing",
    bug: "What counted on another chain, and may still be lost there, is not known where a deposit is decided.",
    scene: "instalments",
    patches: [
      {
        path: "src/deposit/decide/readFacts.ts",
        search: "const above = intentChains.map(",
        replace: "const above = intentChains.filter((named) => named.chain === chain).map(",
      },
    ],
  },
  {
    name: "other-chains-are-current",
    bug: "Deposits of another chain count, although that chain has lost their block and its own loop has not run yet.",
    scene: "reorgElsewhere",
    patches: [
      {
        path: "src/deposit/decide/readFacts.ts",
        search: "const intentChains = await listIntentChains(tx, scope, upto);",
        replace: `const intentChains = (await listIntentChains(tx, scope, upto)).map((on) => ({
    ...on,
    isBehind: on.isBehind && on.chain === chain,
  }));`,
      },
    ],
  },
  {
    name: "cheap-price-stays",
    bug: "A price below the minimum is settled in the record and stays in its inbox.",
    patches: [
      {
        path: "src/deposit/holding/holdingStore.ts",
        search: "and (intent.price_token_units >= minimum.units or ${nearlyReachesPrice(sql`intent.counted_units`)})",
        replace: "and intent.price_token_units >= minimum.units",
      },
      {
        path: "src/deposit/holding/holdingStore.ts",
        search: "or not ${reachesPrice(TAKEN_UNITS)} and ${reachesPrice(sql`intent.counted_units`)})`;",
        replace: "or false)`;",
      },
    ],
  },
  {
    name: "dust-twice",
    bug: "The page takes waiting dust off what it asks for, although that is in the received amount already.",
    patches: [
      {
        path: "src/http/checkout/state/buildState.ts",
        search: "const remaining = remainingUnits(intent);",
        replace:
          "const remaining = remainingUnits({ ...intent, received_units: intent.received_units + row.waitingUnits });",
      },
    ],
  },
  {
    name: "late-is-paid",
    bug: "The page of a cancelled order that is paid later says that it is paid.",
    scene: "lateMoney",
    patches: [
      {
        path: "src/http/checkout/state/stage.ts",
        search: "counted_units: intent.counted_units - intent.late_units",
        replace: "counted_units: intent.counted_units",
      },
    ],
  },
  {
    name: "refused-row-one-by-one",
    bug: "When the database refuses a row, the intents of its batch are processed one by one.",
    scene: "refusedRow",
    patches: [
      {
        path: "src/kernel/errors/halveWhatFails.ts",
        search: `  const results = await halveWhatFails(items.slice(0, middle), work);
  results.push(...(await halveWhatFails(items.slice(middle), work)));`,
        replace: `  const results: Result[] = [];
  if (middle > 0) for (const each of items) results.push(...(await halveWhatFails([each], work)));`,
      },
    ],
  },
  {
    name: "incoming-before-outgoing",
    bug: "On a chain without logs, all that came in in a transaction is placed before what a sweep in the same transaction took.",
    scene: "settledBetween",
    patches: [
      {
        path: "test/sim/oneShot/accountNaming.ts",
        search: "const place = BigInt(index * PLACES_PER_TRANSACTION + position);",
        replace:
          'const place = BigInt(index * PLACES_PER_TRANSACTION + (from.startsWith("0xa00") ? 0 : 500) + position);',
      },
    ],
  },
  {
    name: "given-stays-deposit",
    bug: "A deposit stays one when its transfer turns out to be what a bridge gave for another deposit.",
    patches: [
      {
        path: "src/deposit/processMovements.ts",
        search: "return movements.filter(({ id, explained_by }) => explained_by === null || deposited.has(id));",
        replace: "return movements.filter(({ explained_by }) => explained_by === null);",
      },
    ],
  },
  {
    name: "taken-below-minimum-waits",
    bug: "A deposit below the minimum that counts after a sweep took it waits for the next settlement to be planned.",
    patches: [
      {
        path: "src/deposit/holding/holdingStore.ts",
        search: "and (current.units >= minimum.units or ${BELONGS_TO_PRICE} or ${IS_TAKEN_ALREADY})",
        replace: "and (current.units >= minimum.units or ${BELONGS_TO_PRICE})",
      },
    ],
  },
  {
    name: "asks-for-ever",
    bug: "Providers are asked for a sweep without end once it has changed and needs no agreement any more.",
    patches: [
      {
        path: "src/settlement/agreement/openAgreements.ts",
        search: 'rows.filter((row) => row.state === "asking" && !isWaiting.has(sweepKey(row))),',
        replace: "[],",
      },
    ],
  },
];
