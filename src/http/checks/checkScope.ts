import { requireScope, type Caller } from "../../merchant/keys/authenticate.ts";
import { CREATE_INTENTS } from "../../merchant/keys/scopes.ts";

/** What the key may do. Every operation, reads included, asks for one scope. Throws insufficient_scope or account_suspended. */
export function checkScope(caller: Caller): void {
  requireScope(caller, CREATE_INTENTS);
}
