import type { Insertable } from "kysely";
import type { Namespace } from "../../kernel/caip.ts";
import { Fault } from "../../kernel/faults.ts";
import type { World } from "../../world.ts";
import { findNamespaceDefault } from "../namespaceDefault.ts";
import { newApiKey } from "./apiKey.ts";
import { SCOPES } from "./scopes.ts";
import type { ApiKeyTable } from "../merchantTables.ts";
import { findAccount, insertKey } from "../store.ts";

export type NewKey = {
  accountId: string;
  scopes: readonly string[];
  expiresAt?: Date;
  /** Binds the key to the account's default destination there. */
  defaultNamespace?: Namespace;
};

const MISSING_DEFAULTS: Readonly<Record<Namespace, string>> = {
  eip155:
    "The account has no default destination on an EVM chain: name one by accounts update --evm-chain --evm-wallet.",
  solana:
    "The account has no default destination on Solana: name one by accounts update --solana-chain --solana-wallet.",
};

type KeyWorld = Pick<World, "db" | "clock" | "entropy" | "config">;

/**
 * Creates a key. Only this result contains the key itself; the database stores its hash. Throws not_found or
 * invalid_request.
 */
export async function createKey(world: KeyWorld, input: NewKey): Promise<{ keyId: string; apiKey: string }> {
  const { row, apiKey } = await prepareKey(world, input);
  await insertKey(world.db.root, row);
  return { keyId: row.key_id, apiKey };
}

/** A new key with its row, which the caller inserts. Throws as `createKey`. */
export async function prepareKey(
  world: KeyWorld,
  input: NewKey,
): Promise<{ row: Insertable<ApiKeyTable>; apiKey: string }> {
  const unknown = input.scopes.find((scope) => !SCOPES.includes(scope));
  if (unknown !== undefined) {
    throw new Fault("invalid_request", {
      param: "scopes",
      message: `${unknown} is not a scope. Valid scopes: ${SCOPES.join(", ")}.`,
    });
  }
  const account = await findAccount(world.db, input.accountId);
  if (account === undefined) throw new Fault("not_found", { message: "No such account." });
  const { defaultNamespace: namespace } = input;
  if (namespace !== undefined && findNamespaceDefault(account, namespace) === undefined)
    throw new Fault("invalid_request", { param: "default", message: MISSING_DEFAULTS[namespace] });
  const { keyId, apiKey, hash } = newApiKey(world.config.environment, world.entropy);
  const row = {
    key_id: keyId,
    account_id: input.accountId,
    secret_hash: hash,
    scopes: [...input.scopes],
    created_at: world.clock.now(),
    expires_at: input.expiresAt ?? null,
    revoked_at: null,
    last_used_at: null,
    default_namespace: namespace ?? null,
  };
  return { row, apiKey };
}
