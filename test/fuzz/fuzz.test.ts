import assert from "node:assert/strict";
import { test } from "node:test";
import { runFuzz } from "./runFuzz.ts";
import { isDeepRun } from "../support/runNumber.ts";

// A small run of `npm run fuzz`, which sends 100,000 requests by default.

const REQUESTS = isDeepRun ? 8_000 : 800;
const SEED = 20_261_121;

test("§7.1, D22 every answer to malformed requests has the envelope, accepted values stay exact, and valid calls succeed", async () => {
  const { requests, failures, byStatus, byKind, compared } = await runFuzz({ seed: SEED, requests: REQUESTS });
  assert.deepEqual(failures, []);
  assert.equal(requests, REQUESTS);
  // A fuzzer whose requests all fail the first check finds nothing.
  assert.ok((byStatus.get(200) ?? 0) + (byStatus.get(201) ?? 0) > REQUESTS / 20, JSON.stringify([...byStatus]));
  assert.ok(compared > REQUESTS / 25, `${compared} creates compared`);
  assert.ok(byKind.size >= 6);
});
