import type { Db, Tx } from "../../../db/database.ts";
import { runIdempotent } from "../../../idempotency/runIdempotent.ts";
import { createIntent, prepareCreate, type CreateIntentInput } from "../../../intent/createIntent.ts";
import { intentRecordWithRoutes } from "../../../intent/intentRecord.ts";
import { withStoredRouteSets } from "../../../intent/routes/ensureRouteSets.ts";
import { findIntentRoutes } from "../../../intent/routes/findRoutes.ts";
import { renewWidgetToken } from "../../../intent/checkout/renewWidgetToken.ts";
import { defineOperation } from "../../operation.ts";
import { createdPaymentIntent } from "../../schema/records/paymentIntent.ts";
import { intentExample, widgetTokenExample } from "../../schema/examples.ts";
import type { FromSchema } from "../../schema/jsonSchema.ts";
import { createPaymentIntentBody as body } from "../../schema/requests/createPaymentIntent.ts";

export const createPaymentIntent = defineOperation({
  operationId: "createPaymentIntent",
  method: "POST",
  path: "/api/v1/intents",
  group: "Intents",
  summary: "Create a payment intent",
  description: `Creates an intent with a deposit inbox of its own.

When the body names any part of the destination (\`payoutWallet\`, \`payoutNamespace\`, \`payoutChainReference\` or \`payoutTokenAddress\`),
the rest comes from the account's defaults, and an account has at most one active intent for one destination: a repeat with the same
\`priceUnits\` and \`oneTime\` returns that intent with \`created: false\` and a fresh \`widgetToken\`, and one with other terms is
refused with \`destination_conflict\`. Of such a repeat \`merchantReference\`, \`metadata\`, \`returnUrl\` and \`description\` have no effect.

A body that names no part of the destination always creates another intent. Send an \`Idempotency-Key\` with it, so that a repeat after a
lost response does not create a second one. \`merchantReference\` is your own label and does not identify the intent.

**A response with \`Idempotent-Replayed: true\` is the one of the first call.** It shows the intent as it was then, \`unpaid\` also after the
payment. Read the intent for its present state.`,
  acceptsIdempotencyKey: true,
  perMinute: 30,
  body,
  bodyExamples: {
    "A one-time price": {
      priceUnits: 25_000_000,
      oneTime: true,
      merchantReference: "order 4711",
      description: "Two seats, row 7",
      returnUrl: "https://shop.example/orders/4711",
    },
    "A specific destination": {
      payoutNamespace: "eip155",
      payoutChainReference: "8453",
      payoutWallet: "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
      payoutTokenAddress: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
    },
    "Open-ended, with the account's defaults": {},
  },
  success: {
    status: 201,
    description: "The new or existing intent.",
    schema: createdPaymentIntent,
    example: { ...intentExample, widgetToken: widgetTokenExample },
  },
  faults: [
    "price_required",
    "unsupported_destination",
    "wallet_required",
    "token_required",
    "destination_required",
    "destination_conflict",
  ],
  async handle(world, { account, body: requestBody, idempotentRequest }) {
    const input = toCreateIntentInput(requestBody);
    const create = async (on: Db["root"]) => {
      const { intent, isCreated, widgetToken } = await createIntent(on, world, { account, input });
      const routes = await findIntentRoutes({ db: on, memory: world.memory }, intent);
      const record = { ...intentRecordWithRoutes(intent, routes, world.config), created: isCreated };
      return { status: 201, body: record, secrets: { widgetToken } } as const;
    };
    if (idempotentRequest === undefined) {
      const { status, body: record, secrets } = await withStoredRouteSets(world, () => create(world.db.root));
      return { status, body: { ...record, ...secrets } };
    }
    await prepareCreate(world);
    const renewSecrets = async (tx: Tx, { intentId }: { intentId: string }) => ({
      widgetToken: await renewWidgetToken(tx, world, intentId),
    });
    return withStoredRouteSets(world, () => runIdempotent(world, idempotentRequest, { run: create, renewSecrets }));
  },
});

function toCreateIntentInput(requestBody: FromSchema<typeof body>): CreateIntentInput {
  const { payoutChainReference: reference = null } = requestBody;
  return {
    merchantReference: requestBody.merchantReference ?? null,
    metadata: requestBody.metadata ?? null,
    priceUnits: requestBody.priceUnits ?? null,
    oneTime: requestBody.oneTime ?? null,
    returnUrl: requestBody.returnUrl ?? null,
    description: requestBody.description ?? null,
    payoutWallet: requestBody.payoutWallet ?? null,
    payoutNamespace: requestBody.payoutNamespace ?? null,
    payoutChainReference: reference === null ? null : String(reference),
    payoutTokenAddress: requestBody.payoutTokenAddress ?? null,
  };
}
