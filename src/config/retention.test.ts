import assert from "node:assert/strict";
import { test } from "node:test";
import { readRetention, RETENTION_DEFAULT } from "./retention.ts";
import { ConfigError, readSection } from "./section.ts";

const read = (retention?: unknown) => readRetention(readSection({ retention }, { path: "", known: ["retention"] }));

test("each retention has a default, and events stay permanently", () => {
  assert.deepEqual(read(), RETENTION_DEFAULT);
  assert.deepEqual(read({}), {
    verificationsDays: 90,
    transactionsDays: 90,
    eventsDays: undefined,
    deliveriesDays: 30,
  });
  assert.deepEqual(read({ verificationsDays: 7, transactionsDays: 30, eventsDays: 30, deliveriesDays: 7 }), {
    verificationsDays: 7,
    transactionsDays: 30,
    eventsDays: 30,
    deliveriesDays: 7,
  });
});

test("a retention outside its limits is rejected by its name", () => {
  const cases: [retention: unknown, message: RegExp][] = [
    [{ verificationsDays: 6 }, /^retention\.verificationsDays: 6 is not accepted; give a whole number from 7 to 3650/],
    [{ transactionsDays: 29 }, /^retention\.transactionsDays: 29 is not accepted; give a whole number from 30 to 3650/],
    [{ eventsDays: 29 }, /^retention\.eventsDays: 29 is not accepted; give a whole number from 30 to 3650/],
    [{ eventsDays: 3_651 }, /^retention\.eventsDays: 3651/],
    [{ eventsDays: "90" }, /^retention\.eventsDays: "90"/],
    [{ eventDays: 90 }, /did you mean eventsDays\?/],
    [[], /^retention: /],
  ];
  for (const [retention, message] of cases)
    assert.throws(
      () => read(retention),
      (error) => error instanceof ConfigError && message.test(error.message),
      JSON.stringify(retention),
    );
});
