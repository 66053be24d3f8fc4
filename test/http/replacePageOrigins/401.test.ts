import { testApiKeyErrors } from "../../support/operationTests.ts";

testApiKeyErrors("replacePageOrigins");
