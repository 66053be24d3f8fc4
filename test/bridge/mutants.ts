import type { Mutant } from "../sim/mutant.ts";

/** Bugs of crossings, each with the test that must fail because of it. */
export const bridgeMutants: readonly (Mutant & { test: string })[] = [
  {
    name: "mint-counts-again",
    bug: "What a bridge gives an inbox counts as a deposit, beside the one on the other chain.",
    test: "test/road/crossing.test.ts",
    patches: [
      {
        path: "src/deposit/processMovements.ts",
        search: "explained_by === null || deposited.has(id)",
        replace: "explained_by === null || id > 0n",
      },
    ],
  },
  {
    name: "payers-mint-is-ours",
    bug: "A payer's own crossing to an inbox is taken for one of the inbox.",
    test: "test/road/crossing.test.ts",
    patches: [
      {
        path: "src/watch/movement.ts",
        search: "return recipient === inbox && (sender === inbox || foreignSender !== undefined);",
        replace: "return recipient === inbox;",
      },
    ],
  },
  {
    name: "expired-proof-stays",
    bug: "An expired proof is not asked for anew.",
    test: "test/road/crossing.test.ts",
    patches: [
      {
        path: "src/bridge/receiveCrossings.ts",
        search: `reason: "proof_expired", isExpired: true`,
        replace: `reason: "proof_expired", isExpired: false`,
      },
    ],
  },
  {
    name: "refused-proof-stays",
    bug: "A proof that the settle chain refuses is not asked for again.",
    test: "test/road/crossingProofs.test.ts",
    patches: [
      {
        path: "src/bridge/receiveCrossings.ts",
        search: `if (outlook.kind === "unproven") {`,
        replace: `if (outlook.kind === "unproven" && attempts < 0) {`,
      },
    ],
  },
  {
    name: "mint-needs-no-burn",
    bug: "A mint whose burn is hidden is not noticed.",
    test: "test/road/hiddenBurn.test.ts",
    patches: [
      {
        path: "src/deposit/processMovements.ts",
        search: "await insertUnmatchedMints(tx, batch.movements, at);",
        replace: "await insertUnmatchedMints(tx, [], at);",
      },
    ],
  },
  {
    name: "proofs-asked-for-late",
    bug: "A burn is asked about rarely when its proof is expected.",
    test: "test/road/crossingSpeed.test.ts",
    patches: [
      {
        path: "src/bridge/trackCrossings.ts",
        search: "isExpected ? INTERVAL_MS_EXPECTED :",
        replace: "isExpected && ageMs < 0 ? INTERVAL_MS_EXPECTED :",
      },
    ],
  },
  {
    name: "small-burns-in-time",
    bug: "Burns below the minimum are received like any other, so a stranger's thousands delay everybody.",
    test: "test/road/smallBurns.test.ts",
    patches: [
      {
        path: "src/bridge/store.ts",
        search: "else ${sql.lit(QUEUE.small)} end",
        replace: "else ${sql.lit(QUEUE.inTime)} end",
      },
    ],
  },
  {
    name: "burns-asked-one-by-one",
    bug: "Each burn of a transaction is a request of its own.",
    test: "src/bridge/trackCrossings.test.ts",
    patches: [
      {
        path: "src/bridge/trackCrossings.ts",
        search: "const isOwn = crossing.reason === EXPIRED;",
        replace: "const isOwn = crossing.movement_id !== 0n;",
      },
    ],
  },
  {
    name: "swapped-proof-stays",
    bug: "A burn whose proof another one holds waits for it permanently.",
    test: "test/road/swappedProofs.test.ts",
    patches: [
      {
        path: "src/bridge/assignProofs.ts",
        search: "holder.chain_tx !== burn.proof_tx,",
        replace: "holder.chain_tx === burn.proof_tx,",
      },
    ],
  },
  {
    name: "unknown-mint-stays",
    bug: "What a bridge gave for an unknown burn stays in the inbox until the burn is found.",
    test: "test/road/suspense.test.ts",
    patches: [
      {
        path: "src/settlement/crossing/suspendMints.ts",
        search: "const SUSPENDED_AFTER_MS = 3_600_000;",
        replace: "const SUSPENDED_AFTER_MS = 3_600_000_000;",
      },
    ],
  },
  {
    name: "suspense-lands-twice",
    bug: "A mint in suspense belongs to no settlement of the inbox.",
    test: "test/road/suspense.test.ts",
    patches: [
      {
        path: "src/settlement/crossing/landCrossings.ts",
        search: "and movement.orphaned_at is null and not movement.in_suspense\n        and",
        replace: "and movement.orphaned_at is null\n        and",
      },
    ],
  },
  {
    name: "bridge-is-free",
    bug: "What the bridge keeps is missing from the settlement.",
    test: "test/road/crossing.test.ts",
    patches: [
      {
        path: "src/settlement/crossing/landCrossings.ts",
        search: "routeCostUnits: mint.bridgeFeeUnits",
        replace: "routeCostUnits: 0n",
      },
    ],
  },
  {
    name: "always-fast",
    bug: "A deposit crosses fast whatever it costs.",
    test: "test/road/crossing.test.ts",
    patches: [
      {
        path: "src/bridge/chooseRoute.ts",
        search: "isSlow && canFast && fastPpm <= limitPpm ? fast : standard",
        replace: "isSlow && canFast && limitPpm > 0 ? fast : standard",
      },
    ],
  },
  {
    name: "calls-without-budget",
    bug: "Each process has a budget of calls of its own.",
    test: "src/bridge/trackCrossings.test.ts",
    patches: [
      {
        path: "src/bridge/trackCrossings.ts",
        search: `calls === 0 || !(await leaseCalls(world.db, { kind: "messages", calls, at }))`,
        replace: `calls === 0 || ((await leaseCalls(world.db, { kind: "messages", calls, at })) && calls < 0)`,
      },
    ],
  },
  {
    name: "burn-not-recorded",
    bug: "A burn begins no crossing.",
    test: "test/road/crossing.test.ts",
    patches: [
      {
        path: "src/settlement/observe/sweepObservation.ts",
        search: "await insertCrossings(tx, this.#burns, this.#at);",
        replace: "await insertCrossings(tx, [], this.#at);",
      },
    ],
  },
];
