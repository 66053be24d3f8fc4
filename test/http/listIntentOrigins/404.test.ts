import { testIdErrors, testRouteErrors } from "../../support/operationTests.ts";

testRouteErrors("listIntentOrigins");
testIdErrors("listIntentOrigins", "absent");
