import assert from "node:assert/strict";
import { test } from "node:test";
import { readAgreement } from "./agreement.ts";
import { ConfigError, readSection } from "./section.ts";

const read = (agreement: unknown, rpcUrls: readonly string[]) =>
  readAgreement(readSection({ agreement }, { path: "chains[0]", known: ["agreement"] }), rpcUrls);
const TWO = ["https://one.example/key", "https://two.example/key"];

test("two hosts must agree by default, and one host needs no agreement", () => {
  assert.deepEqual(read(undefined, TWO), { providers: 2, abovePriceUnits: 0n });
  assert.equal(read(undefined, TWO.slice(0, 1)), undefined);
});

test("two URLs of one host count as one provider", () => {
  assert.equal(read(undefined, ["https://one.example/key", "https://one.example/other"]), undefined);
});

test("the file sets the number and the limit, and 1 disables agreement", () => {
  const limited = { providers: 2, abovePriceUnits: 100_000_000n };
  assert.deepEqual(read({ abovePriceUnits: "100000000" }, TWO), limited);
  assert.equal(read({ providers: 1 }, TWO), undefined);
});

test("more providers than hosts are rejected, and so is a limit that is a number", () => {
  const assertRejected = (agreement: unknown, message: RegExp) =>
    assert.throws(
      () => read(agreement, TWO),
      (error) => error instanceof ConfigError && message.test(error.message),
    );
  assertRejected(
    { providers: 3 },
    /^chains\[0\]\.agreement\.providers: 3 providers cannot agree, because rpcUrls has 2 hosts/,
  );
  assertRejected({ abovePriceUnits: 5 }, /^chains\[0\]\.agreement\.abovePriceUnits: 5 is not accepted/);
  assertRejected({ provider: 2 }, /did you mean providers\?/);
});
