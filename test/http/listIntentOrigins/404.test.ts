import { refusesIds, refusesRoutes } from "../../support/everyOperation.ts";

refusesRoutes("listIntentOrigins");
refusesIds("listIntentOrigins", "absent");
