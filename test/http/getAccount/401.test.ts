import { testApiKeyErrors } from "../../support/operationTests.ts";

testApiKeyErrors("getAccount");
