import { limitsRate } from "../../support/everyOperation.ts";

limitsRate("createIntentSourceInbox");
