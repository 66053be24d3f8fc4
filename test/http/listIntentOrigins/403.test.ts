import { refusesScopes } from "../../support/everyOperation.ts";

refusesScopes("listIntentOrigins");
