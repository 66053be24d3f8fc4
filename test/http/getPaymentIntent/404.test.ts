import { testIdErrors, testRouteErrors } from "../../support/operationTests.ts";

testRouteErrors("getPaymentIntent");
testIdErrors("getPaymentIntent", "shown");
