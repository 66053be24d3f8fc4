import { refusesIds, refusesRoutes } from "../../support/everyOperation.ts";

refusesRoutes("listIntentSettlements");
refusesIds("listIntentSettlements", "shown");
