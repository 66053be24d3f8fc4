import { requireScope, type Caller } from "../../merchant/keys/authenticate.ts";
import { CREATE_INTENTS } from "../../merchant/keys/scopes.ts";

/** Checks the key's scope. Every operation, reads included, requires the same one. Throws insufficient_scope or account_suspended. */
export function checkScope(caller: Caller): void {
  requireScope(caller, CREATE_INTENTS);
}
