import { testIdErrors, testRouteErrors } from "../../support/operationTests.ts";

testRouteErrors("listIntentSettlements");
testIdErrors("listIntentSettlements", "shown");
