import { testDatabaseFailures } from "../../support/testDatabaseFailures.ts";

testDatabaseFailures("replacePageOrigins");
