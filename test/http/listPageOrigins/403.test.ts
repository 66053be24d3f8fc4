import { testScopeErrors } from "../../support/operationTests.ts";

testScopeErrors("listPageOrigins");
