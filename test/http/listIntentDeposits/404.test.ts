import { refusesIds, refusesRoutes } from "../../support/everyOperation.ts";

refusesRoutes("listIntentDeposits");
refusesIds("listIntentDeposits", "shown");
