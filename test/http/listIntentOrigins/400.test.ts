import { refusesVersions } from "../../support/everyOperation.ts";

refusesVersions("listIntentOrigins");
