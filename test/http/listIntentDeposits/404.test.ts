import { testIdErrors } from "../../support/operationTests.ts";

testIdErrors("listIntentDeposits", "shown");
