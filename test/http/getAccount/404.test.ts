import { testRouteErrors } from "../../support/operationTests.ts";

testRouteErrors("getAccount");
