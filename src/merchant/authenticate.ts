import { addMs } from "../kernel/clock.ts";
import { Fault } from "../kernel/faults.ts";
import type { World } from "../world.ts";
import { isSameHash, parseApiKey } from "./apiKey.ts";
import { findKey, markUsed, type AccountRow } from "./store.ts";

/** Who calls: a merchant's account, through one of its keys. */
export type Caller = { account: AccountRow; keyId: string; scopes: readonly string[] };

type AuthenticateWorld = Pick<World, "db" | "clock" | "config">;

/** How exactly the last use of a key is remembered. */
const USE_PRECISION_MS = 60_000;
/** Stands in for the hash of a key that does not exist, so that both kinds of wrong key take the same time. */
const NOBODY = new Uint8Array(32);

/** Reads the Authorization header. Throws unauthorized, key_revoked or key_expired. */
export async function authenticate(world: AuthenticateWorld, presented: string | undefined): Promise<Caller> {
  const parsed = parseApiKey(/^Bearer +([^\s]+)$/i.exec(presented ?? "")?.[1] ?? "");
  if (parsed === undefined || parsed.environment !== world.config.environment) throw new Fault("unauthorized");
  const found = await findKey(world.db, parsed.keyId);
  const isRight = isSameHash(found?.key.secret_hash ?? NOBODY, parsed.hash);
  if (found === undefined || !isRight) throw new Fault("unauthorized");
  const { key, account } = found;
  const now = world.clock.now();
  if (key.revoked_at !== null) throw new Fault("key_revoked");
  if (key.expires_at !== null && key.expires_at <= now) throw new Fault("key_expired");
  const unlessSince = addMs(now, -USE_PRECISION_MS);
  if (key.last_used_at === null || key.last_used_at < unlessSince) {
    await markUsed(world.db, { keyId: key.key_id, at: now, unlessSince });
  }
  return { account, keyId: key.key_id, scopes: key.scopes };
}

/** Throws account_suspended or insufficient_scope. */
export function requireScope(caller: Caller, scope: string): void {
  if (caller.account.status === "suspended") throw new Fault("account_suspended");
  if (caller.scopes.includes(scope)) return;
  throw new Fault("insufficient_scope", {
    message: `The API key lacks the scope ${scope}.`,
    details: { requiredScope: scope },
  });
}
