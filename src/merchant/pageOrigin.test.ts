import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openTestDatabase } from "../../test/support/database.ts";
import { insertAccount } from "../../test/support/intents.ts";
import { stationWorld, type StationWorld } from "../../test/support/stationWorld.ts";
import { normalizePageOrigin } from "./pageOrigin.ts";
import { addPageOrigin, listPageOrigins, removePageOrigin } from "./pageOrigins.ts";

let world: StationWorld;
before(async () => {
  world = stationWorld(await openTestDatabase("postgres"));
});
after(() => world.db.close());

const ACCEPTED: [text: string, origin: string][] = [
  ["https://shop.example", "https://shop.example"],
  ["https://shop.example/", "https://shop.example"],
  ["HTTPS://Shop.Example:443", "https://shop.example"],
  ["https://shop.example:8443", "https://shop.example:8443"],
  ["https://xn--bcher-kva.example", "https://xn--bcher-kva.example"],
  ["https://bücher.example", "https://xn--bcher-kva.example"],
  ["https://192.0.2.7", "https://192.0.2.7"],
  ["https://[2001:db8::1]:444", "https://[2001:db8::1]:444"],
];

const REFUSED = [
  "",
  "null",
  "*",
  "shop.example",
  "//shop.example",
  "https://",
  "https://*.shop.example",
  "https://*",
  "https://shop.example/checkout",
  "https://shop.example?",
  "https://shop.example#",
  "https://shop.example/?a",
  "https://user@shop.example",
  "https://user:word@shop.example",
  "https://shop.example https://evil.example",
  "https://shop.example;script-src *",
  "https://shop.example,https://evil.example",
  "https://shop.example'self'",
  "wss://shop.example",
  "data:text/html,x",
  "javascript:alert(1)",
  "file:///etc",
  `https://${"a".repeat(300)}.example`,
];

test("a page origin is normalized to the form that browsers send, and other texts are refused", () => {
  for (const [text, origin] of ACCEPTED) assert.equal(normalizePageOrigin(text, "live"), origin, text);
  for (const text of REFUSED) assert.equal(normalizePageOrigin(text, "test"), undefined, text);
  assert.equal(normalizePageOrigin("http://localhost:5173", "test"), "http://localhost:5173");
  assert.equal(normalizePageOrigin("http://shop.example", "live"), undefined, "live accounts require https");
});

test("D19 the list of an account grows, shrinks, has a limit and is its own", async () => {
  const [accountId, other] = [await insertAccount(world.db), await insertAccount(world.db)];
  const add = (origin: string) => addPageOrigin(world, { accountId, origin });
  assert.equal(await add("https://b.example/"), "https://b.example");
  await add("https://a.example");
  await add("https://a.example");
  assert.deepEqual(await listPageOrigins(world, accountId), ["https://a.example", "https://b.example"]);
  assert.deepEqual(await listPageOrigins(world, other), []);
  await removePageOrigin(world, { accountId, origin: "https://b.example" });
  assert.deepEqual(await listPageOrigins(world, accountId), ["https://a.example"]);
  await assert.rejects(removePageOrigin(world, { accountId, origin: "https://b.example" }), { code: "not_found" });
  await assert.rejects(add("https://*.example"), { code: "invalid_request" });
  await assert.rejects(addPageOrigin(world, { accountId: "acct_0", origin: "https://a.example" }), {
    code: "not_found",
  });
  for (let port = 1; port < 20; port += 1) await add(`https://a.example:${port + 1_000}`);
  await assert.rejects(add("https://one.more.example"), { code: "invalid_request" });
  await add("https://a.example");
});
