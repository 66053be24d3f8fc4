import { testRouteErrors } from "../../support/operationTests.ts";

testRouteErrors("updateAccount");
