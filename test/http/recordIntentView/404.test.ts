import { testIdErrors } from "../../support/operationTests.ts";

testIdErrors("recordIntentView", "absent");
