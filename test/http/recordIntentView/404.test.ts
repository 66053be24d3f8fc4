import { refusesIds, refusesRoutes } from "../../support/everyOperation.ts";

refusesRoutes("recordIntentView");
refusesIds("recordIntentView", "absent");
