import { refusesIds, refusesRoutes } from "../../support/everyOperation.ts";

refusesRoutes("createIntentSourceInbox");
refusesIds("createIntentSourceInbox", "absent");
