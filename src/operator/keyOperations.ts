import { addMs, DAY_MS } from "../kernel/clock.ts";
import { createKey as createMerchantKey } from "../merchant/keys/createKey.ts";
import { listKeys as listMerchantKeys } from "../merchant/listAccounts.ts";
import { revokeKey as revokeMerchantKey } from "../merchant/keys/revokeKey.ts";
import { rotateKey as rotateMerchantKey } from "../merchant/keys/rotateKey.ts";
import { DEFAULT_SCOPES, SCOPES } from "../merchant/keys/scopes.ts";
import type { ApiKeyRow } from "../merchant/store.ts";
import type { World } from "../world.ts";
import { UsageError } from "./errors.ts";
import { readPage, toPage, type Page } from "./lists/page.ts";
import { readAccountFilter } from "./accountOperations.ts";
import { getField, requiredText, optionalNumber, optionalText } from "./inputFields.ts";

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
};

export type RotatedKeyOutput = { keyId: string; apiKey: string; oldKeyId: string; oldExpiresAt: string };

const EXPIRY_DAYS_MAX = 3_650;
const HOUR_MS = 3_600_000;
const OVERLAP_HOURS_DEFAULT = 24;
const OVERLAP_HOURS_MAX = 720;

/** Creates a key. Only this result contains the key itself; the database keeps a hash. */
export async function createKey(world: World, input: unknown): Promise<{ keyId: string; apiKey: string }> {
  return createMerchantKey(world, {
    accountId: requiredText(input, "accountId"),
    scopes: readScopes(input),
    ...readExpiry(world, input),
  });
}

/** The given scopes, separated by commas; without any, the default ones. */
function readScopes(input: unknown): readonly string[] {
  if (getField(input, "withoutScopes") === true) return [];
  const typed = optionalText(input, "scopes");
  if (typed === undefined) return DEFAULT_SCOPES;
  const scopes = typed.split(",").map((scope) => scope.trim());
  const unknown = scopes.find((scope) => !SCOPES.includes(scope));
  if (unknown !== undefined) throw new UsageError(`--scopes has ${unknown}; the scopes are ${SCOPES.join(", ")}.`);
  return [...new Set(scopes)];
}

export async function listKeys(world: World, input: unknown): Promise<Page<ApiKeyOutput>> {
  const { limit, cursor } = readPage(input);
  const accountId = await readAccountFilter(world, input);
  const keys = await listMerchantKeys(world, { accountId, limit: limit + 1, after: cursor });
  return toPage(
    keys.map((key) => toKeyOutput(world, key)),
    limit,
    ({ keyId }) => keyId,
  );
}

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
  };
}

function getKeyState(key: Pick<ApiKeyRow, "revoked_at" | "expires_at">, now: Date): ApiKeyOutput["state"] {
  if (key.revoked_at !== null) return "revoked";
  return key.expires_at !== null && key.expires_at <= now ? "expired" : "valid";
}

/** Replaces a key. Only this result contains the new key itself; the database keeps a hash. */
export async function rotateKey(world: World, input: unknown): Promise<RotatedKeyOutput> {
  const hours = optionalNumber(input, "overlapHours", { min: 0, max: OVERLAP_HOURS_MAX }) ?? OVERLAP_HOURS_DEFAULT;
  const rotated = await rotateMerchantKey(world, {
    keyId: readKeyId(input),
    overlapMs: hours * HOUR_MS,
    ...readExpiry(world, input),
  });
  return { ...rotated, oldExpiresAt: rotated.oldExpiresAt.toISOString() };
}

function readExpiry(world: World, input: unknown): { expiresAt?: Date } {
  const days = optionalNumber(input, "expiresInDays", { min: 1, max: EXPIRY_DAYS_MAX });
  return days === undefined ? {} : { expiresAt: addMs(world.clock.now(), days * DAY_MS) };
}

export async function revokeKey(world: World, input: unknown): Promise<{ keyId: string }> {
  const keyId = readKeyId(input);
  await revokeMerchantKey(world, keyId);
  return { keyId };
}

/** Accepts a key id or a whole key, whose third part is the id. */
function readKeyId(input: unknown): string {
  const keyOrId = requiredText(input, "keyId");
  return /^trib_[a-z]+_([a-z0-9]+)_/.exec(keyOrId)?.[1] ?? keyOrId;
}
