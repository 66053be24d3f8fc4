import assert from "node:assert/strict";
import { test } from "node:test";
import { format, inspect } from "node:util";
import { pino } from "pino";
import { Secret } from "./secret.ts";

test("printing, logging or serialising a secret hides its text", () => {
  const secret = new Secret("canary");
  assert.equal(secret.reveal(), "canary");
  let logged = "";
  const log = pino({}, { write: (line: string) => (logged += line) });
  log.info({ secret, inside: [{ secret }], err: new Error(`with ${String(secret)}`) }, "%s", secret);
  const shown = [
    `${String(secret)}`,
    JSON.stringify({ secret }),
    inspect({ deep: { secret } }, { depth: 9, showHidden: true }),
    format("%s %o %j", secret, secret, secret),
    logged,
  ];
  for (const text of shown) assert.ok(!text.includes("canary"), text);
});
