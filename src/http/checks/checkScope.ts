import { requireScope, type Caller } from "../../merchant/keys/authenticate.ts";
import { CREATE_INTENTS } from "../../merchant/keys/scopes.ts";
import type { OperationSpec } from "../operation.ts";

/** The scopes of which an operation requires one. */
export function scopesOf({ scopes = [CREATE_INTENTS] }: OperationSpec): readonly [string, ...string[]] {
  return scopes;
}

/** Checks the key's scopes. Throws insufficient_scope or account_suspended. */
export function checkScope(caller: Caller, operation: OperationSpec): void {
  requireScope(caller, scopesOf(operation));
}
