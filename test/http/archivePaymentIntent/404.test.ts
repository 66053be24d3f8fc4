import { testIdErrors, testRouteErrors } from "../../support/operationTests.ts";

testRouteErrors("archivePaymentIntent");
testIdErrors("archivePaymentIntent", "shown");
