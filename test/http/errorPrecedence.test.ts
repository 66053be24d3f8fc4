import assert from "node:assert/strict";
import { test } from "node:test";
import { addMs } from "../../src/kernel/clock.ts";
import { newApiKey } from "../../src/merchant/keys/apiKey.ts";
import { createKey } from "../../src/merchant/keys/createKey.ts";
import { revokeKey } from "../../src/merchant/keys/revokeKey.ts";
import { CREATE_INTENTS } from "../../src/merchant/keys/scopes.ts";
import { assertFault, testApi, UNKNOWN_ID, VERSION, type Merchant, type TestApi } from "../support/api.ts";
import { OPERATIONS, type OperationId } from "../support/operationTests.ts";

// Everything that can be wrong with a call, in every combination. Whatever else is wrong, the answer tells of the first thing in the
// promised order, and of nothing behind it.

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

/** What must be answered: the status and the code of the first thing that is wrong; undefined when nothing is. */
function expectedError({
  operationId,
  wrongs,
}: {
  operationId: OperationId;
  wrongs: Defects;
}): [number, string] | undefined {
  const { method, path: route } = OPERATIONS[operationId];
  const { version, path, verb, key, rate, scope, size, shape, resource } = wrongs;
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
  if (method === "POST" && shape === "not JSON") return [400, "invalid_json"];
  if (method === "POST" && shape === "wrong type") return [400, "invalid_content_type"];
  if (method === "POST" && shape === "unknown field") return [400, "invalid_request"];
  if (resource === "unknown" && route.includes("{id}")) return [404, "not_found"];
  return undefined;
}

/** The number of a combination, written in digits that each have as many values as their wrong has. */
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

/** `keys` are of this one account, whatever is wrong with them: its rate, its scopes and its status are in play with each. */
type Account = { keys: Record<Defects["key"], string | undefined>; intentId: string; calls: number };

/** Accounts in each state; one whose calls are used up is replaced, so that only what a combination says is wrong. */
function createAccountPool(api: TestApi, operationId: OperationId) {
  const { perMinute } = OPERATIONS[operationId];
  const kept = new Map<string, Account>();
  const open = async (scope: Defects["scope"]): Promise<Account> => {
    const scopes = scope === "lacking" ? [] : [CREATE_INTENTS];
    const merchant = await api.openMerchant({ scopes });
    const keys = await createKeys(api, merchant, scopes);
    const { id } = await merchant.insertIntent();
    const suspended = { status: "suspended" as const };
    if (scope === "suspended")
      await api.world.db.root.updateTable("account").set(suspended).where("id", "=", merchant.accountId).execute();
    return { keys, intentId: id, calls: 0 };
  };
  return async ({ rate, scope }: Defects): Promise<Account> => {
    const name = `${rate} ${scope}`;
    let account = kept.get(name);
    if (account === undefined || (rate === "free" && account.calls >= 25)) {
      account = await open(scope);
      kept.set(name, account);
      for (let call = 0; rate === "used up" && call < perMinute; call += 1)
        await send(api, operationId, { account, wrongs: { ...NO_DEFECTS, rate, scope } });
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

function send(api: TestApi, operationId: OperationId, { account, wrongs }: { account: Account; wrongs: Defects }) {
  const { method, path } = OPERATIONS[operationId];
  const id = wrongs.resource === "there" ? account.intentId : UNKNOWN_ID;
  const versions = { right: VERSION, missing: undefined, malformed: "yesterday", unsupported: "2019-01-01" };
  const version = versions[wrongs.version];
  const key = account.keys[wrongs.key];
  const headers = {
    ...(version === undefined ? {} : { "service-version": version }),
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    ...(method === "POST" ? { "content-type": wrongs.shape === "wrong type" ? "text/plain" : "application/json" } : {}),
  };
  return api.send(`${path.replace("{id}", id)}${wrongs.path === "trailing slash" ? "/" : ""}`, {
    method: wrongs.verb === "wrong" ? "DELETE" : method,
    headers,
    ...bodyOf(operationId, wrongs),
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
 * Behind a wrong version or route nothing is looked at any more; a few of each show that as well as all of them. Wrong keys are
 * thinned out because a client may only send so many a minute.
 */
function sampleStride({ version, path, verb, key }: Defects): number {
  if (version !== "right" || path !== "right" || verb !== "right") return 83;
  return key === "right" ? 1 : 11;
}

for (const operationId of Object.keys(OPERATIONS) as OperationId[]) {
  test(`§5.6, §9.3, D20 ${operationId}: of all that is wrong with a call, the first in order is told`, async () => {
    const api = await testApi();
    const accountFor = createAccountPool(api, operationId);
    for (let number = 0; number < COMBINATIONS; number += 1) {
      const wrongs = defectsFor(number);
      if (number % sampleStride(wrongs) !== 0) continue;
      const account = await accountFor(wrongs);
      const answered = await send(api, operationId, { account, wrongs });
      const expected = expectedError({ operationId, wrongs });
      if (expected === undefined) assert.ok(answered.status < 300, `${JSON.stringify(wrongs)}: ${answered.text}`);
      else assertFault(answered, ...expected);
    }
  });
}
