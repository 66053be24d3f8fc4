import { refusesKeys } from "../../support/everyOperation.ts";

refusesKeys("archivePaymentIntent");
