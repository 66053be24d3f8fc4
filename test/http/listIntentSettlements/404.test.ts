import { testIdErrors } from "../../support/operationTests.ts";

testIdErrors("listIntentSettlements", "shown");
