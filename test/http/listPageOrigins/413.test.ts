import { testSizeErrors } from "../../support/operationTests.ts";

testSizeErrors("listPageOrigins");
