import assert from "node:assert/strict";
import { test } from "node:test";
import { addMs } from "../../src/kernel/clock.ts";
import { newApiKey } from "../../src/merchant/keys/apiKey.ts";
import { createKey } from "../../src/merchant/keys/createKey.ts";
import { revokeKey } from "../../src/merchant/keys/revokeKey.ts";
import { SCOPES } from "../../src/merchant/keys/scopes.ts";
import { assertFault, testApi, UNKNOWN_ID, VERSION, type Merchant, type TestApi } from "../support/api.ts";
import { OPERATIONS, type OperationId } from "../support/operationSpecs.ts";
import { isDeepRun } from "../support/runNumber.ts";
import { openCaller } from "../support/operationTests.ts";

// All combinations of everything that can be wrong with a call. The answer names only the first defect in the
// documented order.

const DEFECTS = {
  version: ["right", "missing", "malformed", "unsupported"],
  path: ["right", "trailing slash"],
  verb: ["right", "wrong"],
  key: ["right", "missing", "malformed", "unknown", "expired", "revoked"],
  rate: ["free", "used up"],
  scope: ["held", "lacking", "suspended"],
  size: ["small", "too large"],
  shape: ["right", "not JSON", "unknown field", "wrong type"],
  resource: ["there", "unknown"],
} as const;

type Defects = { [Name in keyof typeof DEFECTS]: (typeof DEFECTS)[Name][number] };

/** The expected status and code of the first defect; undefined without a defect. */
function expectedError({
  operationId,
  defects,
}: {
  operationId: OperationId;
  defects: Defects;
}): [number, string] | undefined {
  const { method, path: route } = OPERATIONS[operationId];
  const { version, path, verb, key, rate, scope, size, shape, resource } = defects;
  if (version === "missing") return [400, "missing_version"];
  if (version === "malformed") return [400, "invalid_version"];
  if (version === "unsupported") return [400, "unsupported_version"];
  if (path !== "right" || verb !== "right") return [404, "not_found"];
  if (key === "expired") return [401, "key_expired"];
  if (key === "revoked") return [401, "key_revoked"];
  if (key !== "right") return [401, "unauthorized"];
  if (rate === "used up") return [429, "rate_limited"];
  if (scope === "lacking") return [403, "insufficient_scope"];
  if (scope === "suspended") return [403, "account_suspended"];
  if (size === "too large") return [413, "payload_too_large"];
  if (method !== "GET" && shape === "not JSON") return [400, "invalid_json"];
  if (method !== "GET" && shape === "wrong type") return [400, "invalid_content_type"];
  if (method !== "GET" && shape === "unknown field") return [400, "invalid_request"];
  if (resource === "unknown" && route.includes("{id}")) return [404, "not_found"];
  return undefined;
}

/** Decodes a combination's number: one mixed-radix digit per kind of defect. */
function defectsFor(number: number): Defects {
  let rest = number;
  const chosen = Object.entries(DEFECTS).map(([name, values]) => {
    const value = values[rest % values.length];
    rest = Math.floor(rest / values.length);
    return [name, value];
  });
  return Object.fromEntries(chosen) as Defects;
}

const COMBINATIONS = Object.values(DEFECTS).reduce((product, { length }) => product * length, 1);

/** All `keys` belong to this account, so its rate, scopes and status apply to each of them. */
type Account = { keys: Record<Defects["key"], string | undefined>; resourceId: string; calls: number };

/** Keeps an account per state, and replaces one near its rate limit so that no unplanned 429 occurs. */
function createAccountPool(api: TestApi, operationId: OperationId) {
  const { perMinute } = OPERATIONS[operationId];
  const accounts = new Map<string, Account>();
  const open = async (scope: Defects["scope"]): Promise<Account> => {
    const scopes = scope === "lacking" ? [] : SCOPES;
    const { merchant, id } =
      scope === "lacking"
        ? { merchant: await api.openMerchant({ scopes }), id: UNKNOWN_ID }
        : await openCaller(api, operationId);
    const keys = await createKeys(api, merchant, scopes);
    const suspended = { status: "suspended" as const };
    if (scope === "suspended")
      await api.world.db.root.updateTable("account").set(suspended).where("id", "=", merchant.accountId).execute();
    return { keys, resourceId: id, calls: 0 };
  };
  return async ({ rate, scope }: Defects): Promise<Account> => {
    const name = `${rate} ${scope}`;
    let account = accounts.get(name);
    if (account === undefined || (rate === "free" && account.calls >= 25)) {
      account = await open(scope);
      accounts.set(name, account);
      for (let call = 0; rate === "used up" && call < perMinute; call += 1)
        await send(api, operationId, { account, defects: { ...NO_DEFECTS, rate, scope } });
    }
    account.calls += 1;
    return account;
  };
}

async function createKeys(api: TestApi, merchant: Merchant, scopes: readonly string[]): Promise<Account["keys"]> {
  const { world } = api;
  const { accountId, apiKey } = merchant;
  const expired = await createKey(world, { accountId, scopes, expiresAt: addMs(world.clock.now(), -1) });
  const revoked = await createKey(world, { accountId, scopes });
  await revokeKey(world, revoked.keyId);
  const unknown = newApiKey(world.config.environment, world.entropy);
  return {
    right: apiKey,
    missing: undefined,
    malformed: "trib_test_nobody",
    unknown: unknown.apiKey,
    expired: expired.apiKey,
    revoked: revoked.apiKey,
  };
}

const NO_DEFECTS: Defects = {
  version: "right",
  path: "right",
  verb: "right",
  key: "right",
  rate: "free",
  scope: "held",
  size: "small",
  shape: "right",
  resource: "there",
};

function send(api: TestApi, operationId: OperationId, { account, defects }: { account: Account; defects: Defects }) {
  const { method, path } = OPERATIONS[operationId];
  const id = defects.resource === "there" ? account.resourceId : UNKNOWN_ID;
  const versions = { right: VERSION, missing: undefined, malformed: "yesterday", unsupported: "2019-01-01" };
  const version = versions[defects.version];
  const key = account.keys[defects.key];
  const headers = {
    ...(version === undefined ? {} : { "service-version": version }),
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    ...(method !== "GET" ? { "content-type": defects.shape === "wrong type" ? "text/plain" : "application/json" } : {}),
  };
  return api.send(`${path.replace("{id}", id)}${defects.path === "trailing slash" ? "/" : ""}`, {
    method: defects.verb === "wrong" ? "OPTIONS" : method,
    headers,
    ...bodyOf(operationId, defects),
  });
}

function bodyOf(operationId: OperationId, { size, shape }: Defects): { body?: string } {
  const shapeOf: { method: string; body?: object } = OPERATIONS[operationId];
  const padding = size === "too large" ? " ".repeat(65_537) : "";
  if (shapeOf.method === "GET") return padding === "" ? {} : { body: padding };
  const right = JSON.stringify(shapeOf.body ?? {});
  const texts = { right, "wrong type": right, "not JSON": "{", "unknown field": '{"payoutWalet":"x"}' };
  return { body: texts[shape] + padding };
}

/**
 * A wrong version or route ends the checks, so a sample of those combinations is enough. Wrong keys are sampled because
 * their rate is limited per client.
 */
function sampleStride({ version, path, verb, key }: Defects): number {
  if (version !== "right" || path !== "right" || verb !== "right") return isDeepRun ? 83 : 499;
  if (key !== "right") return isDeepRun ? 11 : 83;
  return isDeepRun ? 1 : 7;
}

/**
 * Each operation has other combinations of the sample, so that together they have all. An account that has used up its
 * limit takes a minute's calls, so each operation has one of the three.
 */
function isSampled(number: number, { defects, index }: { defects: Defects; index: number }): boolean {
  const { rate, scope } = defects;
  const isOfOther = rate === "used up" && scope !== DEFECTS.scope[index % DEFECTS.scope.length];
  if (isOfOther && !isDeepRun) return false;
  return (number + index) % sampleStride(defects) === 0;
}

for (const [index, operationId] of (Object.keys(OPERATIONS) as OperationId[]).entries()) {
  test(`§5.6, §9.3, D20 ${operationId}: a call with several defects gets the error of the first one in order`, async () => {
    const api = await testApi();
    // Wrong keys of the operations before would use up the limit of this client.
    api.advanceTime(60_000);
    const accountFor = createAccountPool(api, operationId);
    for (let number = 0; number < COMBINATIONS; number += 1) {
      const defects = defectsFor(number);
      if (!isSampled(number, { defects, index })) continue;
      const account = await accountFor(defects);
      const response = await send(api, operationId, { account, defects });
      const expected = expectedError({ operationId, defects });
      if (expected === undefined) assert.ok(response.status < 300, `${JSON.stringify(defects)}: ${response.text}`);
      else assertFault(response, ...expected);
    }
  });
}
