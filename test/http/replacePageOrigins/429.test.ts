import { testRateLimit } from "../../support/operationTests.ts";

testRateLimit("replacePageOrigins");
