import { limitsRate } from "../../support/everyOperation.ts";

limitsRate("archivePaymentIntent");
