import { testIdErrors, testRouteErrors } from "../../support/operationTests.ts";

testRouteErrors("createIntentSourceInbox");
testIdErrors("createIntentSourceInbox", "absent");
