import { refusesScopes } from "../../support/everyOperation.ts";

refusesScopes("recordIntentView");
