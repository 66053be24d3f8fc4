import { refusesIds, refusesRoutes } from "../../support/everyOperation.ts";

refusesRoutes("getPaymentIntent");
refusesIds("getPaymentIntent", "shown");
