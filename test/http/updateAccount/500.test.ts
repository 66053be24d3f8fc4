import { testDatabaseFailures } from "../../support/testDatabaseFailures.ts";

testDatabaseFailures("updateAccount");
