import { refusesScopes } from "../../support/everyOperation.ts";

refusesScopes("archivePaymentIntent");
