import { OPERATIONS, type OperationId } from "../support/operationSpecs.ts";
import {
  testApiKeyErrors,
  testRateLimit,
  testRouteErrors,
  testScopeErrors,
  testSizeErrors,
  testUnstorableTexts,
  testVersionErrors,
} from "../support/operationTests.ts";
import { testDatabaseFailures } from "../support/testDatabaseFailures.ts";

// The rules that every operation keeps. What one of them does beyond these is in the folder of its name.

/** Its own test fails each statement, among them those of its providers. */
const OWN_DATABASE_FAILURES: ReadonlySet<OperationId> = new Set(["createIntentSourceInbox"]);

for (const operationId of Object.keys(OPERATIONS) as OperationId[]) {
  testVersionErrors(operationId);
  testApiKeyErrors(operationId);
  testScopeErrors(operationId);
  testRouteErrors(operationId);
  testSizeErrors(operationId);
  testUnstorableTexts(operationId);
  testRateLimit(operationId);
  if (!OWN_DATABASE_FAILURES.has(operationId)) testDatabaseFailures(operationId);
}
