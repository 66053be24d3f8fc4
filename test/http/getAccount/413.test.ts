import { testSizeErrors } from "../../support/operationTests.ts";

testSizeErrors("getAccount");
