import { refusesIds, refusesRoutes } from "../../support/everyOperation.ts";

refusesRoutes("archivePaymentIntent");
refusesIds("archivePaymentIntent", "shown");
