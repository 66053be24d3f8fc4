import { refusesVersions } from "../../support/everyOperation.ts";

refusesVersions("getPaymentIntent");
