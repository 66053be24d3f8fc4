import { listOrigins } from "../../inbox/listOrigins.ts";
import { getOpenIntent } from "../../intent/readIntents.ts";
import { readScannerHealth } from "../../watch/health.ts";
import type { Operation } from "../operation.ts";

export const listIntentOrigins: Operation = {
  operationId: "listIntentOrigins",
  method: "GET",
  path: "/api/v1/intents/{id}/origins",
  perMinute: 120,
  async answer(world, { account, id }) {
    const intent = await getOpenIntent(world, { accountId: account.id, intentId: id });
    const health = new Map<string, boolean>(await readScannerHealth(world));
    const facts = { isEnabled: () => true, isHealthy: (chain: string) => health.get(chain) === true };
    return { status: 200, body: listOrigins(world, { intent, account }, facts) };
  },
};
