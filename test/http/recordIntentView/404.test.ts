import { testIdErrors, testRouteErrors } from "../../support/operationTests.ts";

testRouteErrors("recordIntentView");
testIdErrors("recordIntentView", "absent");
