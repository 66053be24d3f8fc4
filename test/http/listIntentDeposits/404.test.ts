import { testIdErrors, testRouteErrors } from "../../support/operationTests.ts";

testRouteErrors("listIntentDeposits");
testIdErrors("listIntentDeposits", "shown");
