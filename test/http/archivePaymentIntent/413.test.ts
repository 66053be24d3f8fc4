import { refusesSizes } from "../../support/everyOperation.ts";

refusesSizes("archivePaymentIntent");
