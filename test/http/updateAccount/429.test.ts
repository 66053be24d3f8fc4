import { testRateLimit } from "../../support/operationTests.ts";

testRateLimit("updateAccount");
