import { testRouteErrors } from "../../support/operationTests.ts";

testRouteErrors("replacePageOrigins");
