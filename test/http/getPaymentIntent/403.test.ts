import { refusesScopes } from "../../support/everyOperation.ts";

refusesScopes("getPaymentIntent");
