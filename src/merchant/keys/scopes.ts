/** What an API key may do. Every operation on intents asks for the first, reads included. */
export const CREATE_INTENTS = "payment_intents:create";

export const SCOPES: readonly string[] = [CREATE_INTENTS];
