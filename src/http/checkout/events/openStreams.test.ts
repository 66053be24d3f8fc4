import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "../../../kernel/faults.ts";
import { OpenStreams } from "./openStreams.ts";

const MAX = { process: 6, network: 5, intent: 3, session: 2 };
const isRefusal = (error: unknown) => error instanceof Fault && error.code === "rate_limited";

function createStreams() {
  const streams = new OpenStreams(MAX);
  const displaced: string[] = [];
  let count = 0;
  const open = (name: string, intentId: string, more: { network?: string; session?: string } = {}) => {
    count += 1;
    const stream = { intentId, network: `network ${count}`, session: `session ${count}`, ...more };
    return streams.open({ ...stream, displace: () => displaced.push(name) });
  };
  return { open, displaced };
}

test("one stream too many of an intent ends its oldest, and no other intent's", () => {
  const { open, displaced } = createStreams();
  open("other", "pi_2");
  const close = ["a", "b", "c"].map((name) => open(name, "pi_1"));
  open("d", "pi_1");
  assert.deepEqual(displaced, ["a"]);
  // The displaced connection closes later, which makes no further room.
  close[0]?.();
  open("e", "pi_1");
  assert.deepEqual(displaced, ["a", "b"]);
});

test("a full process ends the oldest of the same intent, and refuses a further intent", () => {
  const { open, displaced } = createStreams();
  for (const intentId of ["pi_1", "pi_2", "pi_3", "pi_4", "pi_5", "pi_6"]) open(intentId, intentId);
  assert.throws(() => open("new", "pi_7"), isRefusal);
  open("again", "pi_3");
  assert.deepEqual(displaced, ["pi_3"]);
});

test("sessions and networks are refused above their limits, and closed streams make room", () => {
  const { open, displaced } = createStreams();
  const close = [open("a", "pi_1", { session: "s" }), open("b", "pi_1", { session: "s" })];
  assert.throws(() => open("c", "pi_1", { session: "s" }), isRefusal);
  close[0]?.();
  close.push(open("d", "pi_1", { session: "s" }));
  for (const end of close) end();
  for (const intentId of ["pi_1", "pi_2", "pi_3", "pi_4", "pi_5"]) open(intentId, intentId, { network: "n" });
  assert.throws(() => open("f", "pi_6", { network: "n" }), isRefusal);
  assert.deepEqual(displaced, []);
});
