import { testIdErrors } from "../../support/operationTests.ts";

testIdErrors("listIntentOrigins", "absent");
