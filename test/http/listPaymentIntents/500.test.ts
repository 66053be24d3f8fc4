import { survivesFailures } from "../../support/survivesFailures.ts";

survivesFailures("listPaymentIntents");
