import { equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import { ProviderFailed } from "../reader.ts";
import { Feature } from "./feature.ts";
import { RpcError, toHttpError } from "./rpcError.ts";

const FORBIDDEN = toHttpError("host", { status: 403, text: "rpc method is not whitelisted" });
const NO_METHOD = new ProviderFailed("bad_answer", "host answered -32601", {
  cause: new RpcError(-32_601, "the method does not exist/is not available", undefined),
});
const INTERNAL = new ProviderFailed("bad_answer", "host answered -32603", {
  cause: new RpcError(-32_603, "Internal error", undefined),
});
const TRUNCATED = new ProviderFailed("bad_answer", "host sent a truncated answer or no JSON");
const MISSING = new ProviderFailed("unknown_block", "host answered 4444: pruned history unavailable");

/** How often the work was tried in so many uses, when it fails the first time. */
async function triesAfter(failure: ProviderFailed, uses: number): Promise<number> {
  const feature = new Feature();
  let tries = 0;
  for (let use = 0; use < uses; use += 1)
    await feature.use(async () => {
      tries += 1;
      if (tries === 1) throw failure;
      return "an answer";
    });
  return tries;
}

test("a refusal of the method is remembered, and the provider is asked again later", async () => {
  for (const refusal of [FORBIDDEN, NO_METHOD]) {
    equal(await triesAfter(refusal, 101), 1, refusal.message);
    equal(await triesAfter(refusal, 102), 2, refusal.message);
  }
});

test("an answer that is wrong once goes without once", async () => {
  for (const failure of [INTERNAL, TRUNCATED]) equal(await triesAfter(failure, 10), 10, failure.message);
});

test("a missing block refuses nothing", () =>
  rejects(
    new Feature().use(() => Promise.reject(MISSING)),
    MISSING,
  ));
