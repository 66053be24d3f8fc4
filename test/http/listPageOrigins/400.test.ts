import { testVersionErrors } from "../../support/operationTests.ts";

testVersionErrors("listPageOrigins");
