import type { Tx } from "../../../db/database.ts";
import { runIdempotent } from "../../../idempotency/runIdempotent.ts";
import { archiveIntent } from "../../../intent/archiveIntent.ts";
import { getIntent } from "../../../intent/readIntents.ts";
import { intentRecordWithRoutes } from "../../../intent/intentRecord.ts";
import { findIntentRoutes } from "../../../intent/routes/findRoutes.ts";
import { defineOperation } from "../../operation.ts";
import { archivedIntentExample } from "../../schema/examples.ts";
import { paymentIntent } from "../../schema/records/paymentIntent.ts";
import { emptyBody } from "../../schema/requests/emptyBody.ts";

export const archivePaymentIntent = defineOperation({
  operationId: "archivePaymentIntent",
  method: "POST",
  path: "/api/v1/intents/{id}/archive",
  group: "Intents",
  summary: "Archive an intent",
  description: `The intent takes no new source inbox and frees its destination. Later deposits into its inboxes are still recorded and
paid out. Archiving an archived intent changes nothing.`,
  isExtension: true,
  acceptsIdempotencyKey: true,
  isRetrySafe: true,
  perMinute: 30,
  body: emptyBody,
  bodyExamples: { "Empty body": {} },
  success: { status: 200, description: "The archived intent.", schema: paymentIntent, example: archivedIntentExample },
  faults: ["intent_has_pending_deposits"],
  async handle(world, { account, id, idempotentRequest }) {
    const { id: intentId } = await getIntent(world, { accountId: account.id, intentId: id });
    const run = async (tx: Tx) => {
      const intent = await archiveIntent(tx, world, intentId);
      const routes = await findIntentRoutes({ db: tx, memory: world.memory }, intent);
      return { status: 200, body: intentRecordWithRoutes(intent, routes, world.config) } as const;
    };
    return idempotentRequest === undefined
      ? world.db.transaction(run)
      : runIdempotent(world, idempotentRequest, { run });
  },
});
