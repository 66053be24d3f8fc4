import { testApiKeyErrors } from "../../support/operationTests.ts";

testApiKeyErrors("updateAccount");
