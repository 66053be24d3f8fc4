import { findIssuableRoutes } from "../../../inbox/issuableRoutes.ts";
import { listOrigins } from "../../../inbox/listOrigins.ts";
import { loadIssuingPredicate } from "../../../inbox/originSwitch.ts";
import { getUnarchivedIntent } from "../../../intent/readIntents.ts";
import { readScannerHealth } from "../../../watch/scannerHealth.ts";
import { defineOperation } from "../../operation.ts";
import { originsExample } from "../../schema/examples.ts";
import { intentOrigins } from "../../schema/records/origins.ts";

export const listIntentOrigins = defineOperation({
  operationId: "listIntentOrigins",
  method: "GET",
  path: "/api/v1/intents/{id}/origins",
  group: "Deposit addresses",
  summary: "List an intent's source origins",
  description: `Every live origin of the account with its own \`depositIssuable\`, also when \`sourceDepositIssuable\` is false, and every settle
rail. For an archived intent the response is that of an unknown one.`,
  perMinute: 120,
  success: { status: 200, description: "Origins and rails.", schema: intentOrigins, example: originsExample },
  faults: [],
  async handle(world, { account, id }) {
    const intent = await getUnarchivedIntent(world, { accountId: account.id, intentId: id });
    const health = new Map<string, boolean>(await readScannerHealth(world));
    const isEnabled = await loadIssuingPredicate(world);
    const routes = await findIssuableRoutes(world, intent);
    const availability = { isEnabled, isHealthy: (chain: string) => health.get(chain) === true, routes };
    return { status: 200, body: listOrigins(world, { intent, account }, availability) };
  },
});
