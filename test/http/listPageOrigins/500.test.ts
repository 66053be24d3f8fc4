import { testDatabaseFailures } from "../../support/testDatabaseFailures.ts";

testDatabaseFailures("listPageOrigins");
