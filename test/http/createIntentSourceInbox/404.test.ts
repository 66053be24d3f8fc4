import { testIdErrors } from "../../support/operationTests.ts";

testIdErrors("createIntentSourceInbox", "absent");
