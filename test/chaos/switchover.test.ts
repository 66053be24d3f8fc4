import assert from "node:assert/strict";
import { test } from "node:test";
import { isSoundSwitchover, runSwitchover } from "./runSwitchover.ts";

test("a switchover of the database under load loses and repeats nothing, and the service returns by itself", async (t) => {
  const report = await runSwitchover({ seed: 31, loadMs: 3_000 });
  const { acknowledged, acknowledgedAfter, payments, readyMs, createMs } = report;
  t.diagnostic(`${acknowledged} creates, ${acknowledgedAfter} of them after, ${payments} payments`);
  t.diagnostic(`ready after ${readyMs} ms, the next create after ${createMs} ms`);
  assert.ok(isSoundSwitchover(report), JSON.stringify(report, undefined, 2));
  assert.ok(acknowledgedAfter > 0 && acknowledged > acknowledgedAfter && payments > 0);
});
