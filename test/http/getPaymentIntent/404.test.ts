import { testIdErrors } from "../../support/operationTests.ts";

testIdErrors("getPaymentIntent", "shown");
