import { testIdErrors } from "../../support/operationTests.ts";

testIdErrors("archivePaymentIntent", "shown");
