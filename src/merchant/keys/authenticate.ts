import { Fault } from "../../kernel/faults.ts";
import type { World } from "../../world.ts";
import { isEqualConstantTime, parseApiKey } from "./apiKey.ts";
import { findNamespaceDefault } from "../namespaceDefault.ts";
import { lookUpKey, trackKeyUse } from "./keyCache.ts";
import type { AccountRow, ApiKeyRow } from "../store.ts";

/** The authenticated caller: a merchant's account and the key that it used. */
export type Caller = { account: AccountRow; keyId: string; scopes: readonly string[] };

type AuthenticateWorld = Pick<World, "db" | "clock" | "memory" | "config" | "log">;

/** Compared for an unknown key id, so that both kinds of wrong key take the same time. */
const DUMMY_HASH = new Uint8Array(32);

/** Authenticates by the Authorization header. Throws unauthorized, key_revoked or key_expired. */
export async function authenticate(world: AuthenticateWorld, presented: string | undefined): Promise<Caller> {
  const parsed = parseApiKey(/^Bearer +([^\s]+)$/i.exec(presented ?? "")?.[1] ?? "");
  if (parsed === undefined || parsed.environment !== world.config.environment) throw new Fault("unauthorized");
  const found = await lookUpKey(world, parsed);
  const isMatch = isEqualConstantTime(found?.key.secret_hash ?? DUMMY_HASH, parsed.hash);
  if (found === undefined || !isMatch) throw new Fault("unauthorized");
  const { key, account } = found;
  if (key.revoked_at !== null) throw new Fault("key_revoked");
  if (key.expires_at !== null && key.expires_at <= world.clock.now()) throw new Fault("key_expired");
  trackKeyUse(world, key);
  return { account: withDefaultOf(account, key), keyId: key.key_id, scopes: key.scopes };
}

/** For a key that is bound to a default destination, that one is the account's. */
function withDefaultOf(account: AccountRow, { default_namespace: namespace }: ApiKeyRow): AccountRow {
  if (namespace === null) return account;
  const bound = findNamespaceDefault(account, namespace);
  return {
    ...account,
    payout_namespace: namespace,
    payout_chain_reference: bound?.chainReference ?? null,
    payout_wallet: bound?.wallet ?? null,
  };
}

/** Requires one of the scopes. Throws account_suspended or insufficient_scope, which names the first. */
export function requireScope(caller: Caller, scopes: readonly [string, ...string[]]): void {
  const [scope] = scopes;
  if (caller.account.status === "suspended") throw new Fault("account_suspended");
  if (scopes.some((each) => caller.scopes.includes(each))) return;
  throw new Fault("insufficient_scope", {
    message: `The API key lacks the scope ${scope}.`,
    details: { requiredScope: scope },
  });
}
