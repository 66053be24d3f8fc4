import { testRouteErrors } from "../../support/operationTests.ts";

testRouteErrors("listPageOrigins");
