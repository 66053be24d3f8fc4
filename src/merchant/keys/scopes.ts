/** The scopes of API keys. Every operation on intents requires this one, reads included. */
export const CREATE_INTENTS = "payment_intents:create";

export const SCOPES: readonly string[] = [CREATE_INTENTS];
