import { addMs, DAY_MS } from "../kernel/clock.ts";
import type { Namespace } from "../kernel/caip.ts";
import { createKey as createMerchantKey } from "../merchant/keys/createKey.ts";
import { listKeys as listMerchantKeys } from "../merchant/listAccounts.ts";
import { revokeKey as revokeMerchantKey } from "../merchant/keys/revokeKey.ts";
import { rotateKey as rotateMerchantKey } from "../merchant/keys/rotateKey.ts";
import { DEFAULT_SCOPES, SCOPES } from "../merchant/keys/scopes.ts";
import type { ApiKeyRow } from "../merchant/store.ts";
import type { World } from "../world.ts";
import { UsageError } from "./errors.ts";
import { limitOf, PAGE_FIELDS, toPage } from "./lists/page.ts";
import { getAccount } from "./team/getAccount.ts";
import { flag, requiredText, optionalNumber, optionalText } from "./operation/inputFields.ts";
import { defineOperatorOperation } from "./operation/operatorOperation.ts";

export type ApiKeyOutput = {
  keyId: string;
  accountId: string;
  scopes: string[];
  createdAt: string;
  expiresAt: string | null;
  revokedAt: string | null;
  /** To the minute. */
  lastUsedAt: string | null;
  state: "valid" | "expired" | "revoked";
  /** The default destination that its creates have; null for the account's own. */
  default: "evm" | "solana" | null;
};

export type RotatedKeyOutput = { keyId: string; apiKey: string; oldKeyId: string; oldExpiresAt: string };

const EXPIRY_DAYS_MAX = 3_650;
const HOUR_MS = 3_600_000;
const OVERLAP_HOURS_DEFAULT = 24;
const OVERLAP_HOURS_MAX = 720;

const EXPIRES_IN_DAYS = optionalNumber({ min: 1, max: EXPIRY_DAYS_MAX });

/** Creates a key. Only this result contains the key itself; the database keeps a hash. */
export const createKey = defineOperatorOperation({
  effect: "write",
  input: {
    accountId: requiredText,
    scopes: optionalText,
    withoutScopes: flag,
    expiresInDays: EXPIRES_IN_DAYS,
    default: optionalText,
  },
  run: (world, { accountId, scopes, withoutScopes, expiresInDays, default: namespace }) =>
    createMerchantKey(world, {
      accountId,
      scopes: withoutScopes ? [] : parseScopes(scopes),
      ...expiryOf(world, expiresInDays),
      ...(namespace === undefined ? {} : { defaultNamespace: requireNamespace(namespace) }),
    }),
});

function requireNamespace(typed: string): Namespace {
  if (typed === "evm") return "eip155";
  if (typed !== "solana") throw new UsageError(`--default ${typed} is unknown; a key can be bound to evm or solana.`);
  return typed;
}

/** Scopes separated by commas; without any, the default ones. */
function parseScopes(typed: string | undefined): readonly string[] {
  if (typed === undefined) return DEFAULT_SCOPES;
  const scopes = typed.split(",").map((scope) => scope.trim());
  const unknown = scopes.find((scope) => !SCOPES.includes(scope));
  if (unknown !== undefined) throw new UsageError(`--scopes has ${unknown}; the scopes are ${SCOPES.join(", ")}.`);
  return [...new Set(scopes)];
}

export const listKeys = defineOperatorOperation({
  effect: "read",
  input: { accountId: optionalText, ...PAGE_FIELDS },
  async run(world, { accountId, cursor, ...page }) {
    const limit = limitOf(page);
    if (accountId !== undefined) await getAccount(world, accountId);
    const keys = await listMerchantKeys(world, { accountId, limit: limit + 1, after: cursor });
    return toPage(
      keys.map((key) => toKeyOutput(world, key)),
      limit,
      ({ keyId }) => keyId,
    );
  },
});

function toKeyOutput(world: World, key: Omit<ApiKeyRow, "secret_hash">): ApiKeyOutput {
  return {
    keyId: key.key_id,
    accountId: key.account_id,
    scopes: key.scopes,
    createdAt: key.created_at.toISOString(),
    expiresAt: key.expires_at?.toISOString() ?? null,
    revokedAt: key.revoked_at?.toISOString() ?? null,
    lastUsedAt: key.last_used_at?.toISOString() ?? null,
    state: getKeyState(key, world.clock.now()),
    default: key.default_namespace === "eip155" ? "evm" : key.default_namespace,
  };
}

function getKeyState(key: Pick<ApiKeyRow, "revoked_at" | "expires_at">, now: Date): ApiKeyOutput["state"] {
  if (key.revoked_at !== null) return "revoked";
  return key.expires_at !== null && key.expires_at <= now ? "expired" : "valid";
}

/** Replaces a key. Only this result contains the new key itself; the database keeps a hash. */
export const rotateKey = defineOperatorOperation({
  effect: "write",
  input: {
    keyId: requiredText,
    overlapHours: optionalNumber({ min: 0, max: OVERLAP_HOURS_MAX }),
    expiresInDays: EXPIRES_IN_DAYS,
  },
  async run(world, { keyId, overlapHours = OVERLAP_HOURS_DEFAULT, expiresInDays }): Promise<RotatedKeyOutput> {
    const rotated = await rotateMerchantKey(world, {
      keyId: parseKeyId(keyId),
      overlapMs: overlapHours * HOUR_MS,
      ...expiryOf(world, expiresInDays),
    });
    return { ...rotated, oldExpiresAt: rotated.oldExpiresAt.toISOString() };
  },
});

function expiryOf(world: World, days: number | undefined): { expiresAt?: Date } {
  return days === undefined ? {} : { expiresAt: addMs(world.clock.now(), days * DAY_MS) };
}

export const revokeKey = defineOperatorOperation({
  effect: "write",
  input: { keyId: requiredText },
  async run(world, given) {
    const keyId = parseKeyId(given.keyId);
    await revokeMerchantKey(world, keyId);
    return { keyId };
  },
});

/** Accepts a key id or a whole key, whose third part is the id. */
function parseKeyId(keyOrId: string): string {
  return /^trib_[a-z]+_([a-z0-9]+)_/.exec(keyOrId)?.[1] ?? keyOrId;
}
