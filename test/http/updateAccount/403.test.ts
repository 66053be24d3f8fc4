import { testScopeErrors } from "../../support/operationTests.ts";

testScopeErrors("updateAccount");
