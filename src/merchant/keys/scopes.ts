/** Everything of the common interface, its reads included, and every extension read. */
export const CREATE_INTENTS = "payment_intents:create";
/** The extension reads of intents. */
export const READ_INTENTS = "payment_intents:read";

/** All scopes of API keys. A key has those that it was created with. */
export const SCOPES: readonly string[] = [
  CREATE_INTENTS,
  READ_INTENTS,
  "events:read",
  "webhooks:manage",
  "checkout:manage",
];
