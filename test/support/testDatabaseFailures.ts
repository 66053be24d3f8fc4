import assert from "node:assert/strict";
import { after, test } from "node:test";
import { faultRows } from "../../src/kernel/faults.ts";
import { assertFault, openTestApi, type Merchant, type TestApi } from "./api.ts";
import { OPERATIONS, type OperationId, type OperationSpec } from "./operationSpecs.ts";
import { callOperation, type CallOptions, openCaller } from "./operationTests.ts";
import { openFaultyDatabase, type FaultyDatabase } from "./faultyDatabase.ts";

// Every operation and every path through the database, with each statement on that path failing once.

const STATEMENTS_MAX = 40;

const FAILURES = {
  "the database is unreachable": Object.assign(new Error("secret: connect ECONNREFUSED 10.0.0.7"), {
    code: "ECONNREFUSED",
  }),
  "a statement fails": Object.assign(new Error("secret: select column of relation"), { code: "42703" }),
};

const IDEMPOTENT: CallOptions = { headers: { "idempotency-key": "order 7" } };

/** The variants beside the plain call. */
function callVariants(operationId: OperationId): [name: string, options: (merchant: Merchant) => CallOptions][] {
  if (operationId === "archivePaymentIntent") return [[" with an Idempotency-Key", () => IDEMPOTENT]];
  if (operationId !== "createPaymentIntent") return [];
  const named = ({ wallet }: Merchant) => ({ body: { payoutWallet: wallet } });
  return [
    [" with an Idempotency-Key", () => IDEMPOTENT],
    [" with a destination", named],
    [" with both", (merchant) => ({ ...IDEMPOTENT, ...named(merchant) })],
  ];
}

let sharedFaultyApi: Promise<{ api: TestApi; database: FaultyDatabase }> | undefined;

async function openFaultyApi(): Promise<{ api: TestApi; database: FaultyDatabase }> {
  const database = await openFaultyDatabase();
  return { api: await openTestApi(database.db), database };
}

after(async () => {
  const { api, database } = (await sharedFaultyApi) ?? {};
  await api?.server.close();
  await database?.db.close();
});

export function testDatabaseFailures(operationId: OperationId): void {
  for (const [way, optionsFor] of [["", () => ({})] as const, ...callVariants(operationId)]) {
    for (const [name, failure] of Object.entries(FAILURES)) {
      const isInboxCall =
        operationId === "createIntentSourceInbox" && "code" in failure && failure.code === "ECONNREFUSED";
      const code = isInboxCall ? "source_inbox_unavailable" : "internal_error";

      test(`D25 ${operationId}${way}: whenever ${name}, the caller gets an error envelope without internal details`, async () => {
        const { api, database } = await (sharedFaultyApi ??= openFaultyApi());
        const { merchant, id } = await openCaller(api, operationId);
        const { status }: OperationSpec = OPERATIONS[operationId];
        let hasSucceeded = false;
        for (let answeredCount = 0; !hasSucceeded; answeredCount += 1) {
          assert.ok(answeredCount < STATEMENTS_MAX, "it never succeeded");
          database.failAfter(answeredCount, failure);
          const answered = await callOperation({ operationId, merchant }, { id, ...optionsFor(merchant) });
          database.heal();
          hasSucceeded = answered.status === status;
          // Before the key is known, responses carry no limits.
          if (answeredCount > 0) assert.match(String(answered.headers["ratelimit-remaining"]), /^\d+$/);
          // A failed call leaves nothing behind: no stored response and no intent.
          if (hasSucceeded) assert.equal(answered.headers["idempotent-replayed"], undefined);
          if (hasSucceeded && status === 201 && "created" in answered.body) assert.equal(answered.body.created, true);
          if (hasSucceeded) break;
          const error = assertFault(answered, faultRows[code].status, code);
          assert.equal(error.retryable, true);
          assert.equal(answered.headers["retry-after"], "5");
          assert.doesNotMatch(answered.text, /secret|select|column|10\.0|at /);
        }
      });
    }
  }
}
