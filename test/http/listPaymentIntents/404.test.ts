import { refusesRoutes } from "../../support/everyOperation.ts";

refusesRoutes("listPaymentIntents");
