import type { Asset } from "../catalog/catalog.ts";
import { caip19 } from "../kernel/caip.ts";
import type { AccountRow } from "./store.ts";

/**
 * Whether the intents of an account may use an origin. An account is restricted only when its operator named origins.
 */
export function isAccountOrigin({ origins }: Pick<AccountRow, "origins">, { chain, token }: Asset): boolean {
  return origins === null || origins.includes(caip19(chain, token));
}
