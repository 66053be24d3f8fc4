/** Everything of the common interface, its reads included, and every extension read. */
export const CREATE_INTENTS = "payment_intents:create";
/** The extension reads of intents. */
export const READ_INTENTS = "payment_intents:read";
/** The looks of the checkout, and the pages that may embed it. */
export const MANAGE_CHECKOUT = "checkout:manage";

/** The feed of events. */
export const READ_EVENTS = "events:read";
/** The endpoints of webhooks. */
export const MANAGE_WEBHOOKS = "webhooks:manage";

/** What an account's dashboard shows. */
export const READ_DASHBOARD = "dashboard:read";
/** What a key changes in an account's dashboard: webhook endpoints and the checkout's looks, and never a payout. */
export const MANAGE_DASHBOARD = "dashboard:manage";

/** All scopes of API keys. A key has those that it was created with. */
export const SCOPES: readonly [string, ...string[]] = [
  CREATE_INTENTS,
  READ_INTENTS,
  READ_EVENTS,
  MANAGE_WEBHOOKS,
  MANAGE_CHECKOUT,
  READ_DASHBOARD,
  MANAGE_DASHBOARD,
];

/** The scopes of a key that is created without naming any. None of them changes an account's payout. */
export const DEFAULT_SCOPES: readonly string[] = [CREATE_INTENTS, MANAGE_CHECKOUT];
