import { survivesFailures } from "../../support/everyOperation.ts";

survivesFailures("archivePaymentIntent");
