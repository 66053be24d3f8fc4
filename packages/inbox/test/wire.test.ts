import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/properties.ts";
import { getAddress } from "viem";
import { checksumAddress, parseAddress } from "@tributary/inbox/checksum";
import { hubAddress, implementationAddress, inboxVersion } from "@tributary/inbox/hub";
import { routesFromWire, routesToWire, termsFromWire, termsToWire } from "@tributary/inbox/wire";
import type { InboxRoute, InboxTerms } from "@tributary/inbox/wire";
import { anyAddress, anyRoute, anyTerms } from "./arbitraries.ts";

test("terms round-trip through JSON", () => {
  fc.assert(
    fc.property(anyTerms, (terms) => {
      const wire = JSON.parse(JSON.stringify(termsToWire(terms))) as InboxTerms;
      assert.deepEqual(termsFromWire(wire), terms);
      assert.equal(wire.payout, getAddress(terms.payout));
      assert.equal(wire.version, inboxVersion);
      assert.equal(wire.hub, getAddress(hubAddress));
      assert.equal(wire.implementation, getAddress(implementationAddress));
    }),
  );
});

test("routes round-trip through JSON", () => {
  fc.assert(
    fc.property(fc.array(anyRoute, { maxLength: 5 }), (routes) => {
      const wire = JSON.parse(JSON.stringify(routesToWire(routes))) as InboxRoute[];
      assert.deepEqual(routesFromWire(wire), routes);
      for (const [index, { token }] of wire.entries()) assert.equal(token, getAddress(routes[index]?.token ?? ""));
    }),
  );
});

test("a list of routes with holes is refused by name", () => {
  const [route] = fc.sample(anyRoute, 1);
  assert.ok(route !== undefined);
  const [wire] = routesToWire([route]);
  assert.ok(wire !== undefined);
  const holes: InboxRoute[] = [wire];
  holes[2] = wire;
  assert.throws(() => routesFromWire(holes), /^RangeError: routes\[1\]\.chainId must be/);
  const sparse: InboxRoute[] = [];
  sparse.length = 3;
  assert.throws(() => routesFromWire(sparse), /^RangeError: routes\[0\]\.chainId must be/);
});

test("a malformed field is refused by name", () => {
  const [terms] = fc.sample(anyTerms, 1);
  assert.ok(terms !== undefined);
  const wire = termsToWire(terms);
  const malformed: readonly (readonly [keyof InboxTerms, readonly unknown[]])[] = [
    ["salt", [undefined, null, 5, "0x", "0x12", `${wire.salt}0`, wire.salt.slice(2)]],
    [
      "settleChainId",
      [undefined, 1, "", "01", "-1", "0x1", "1.0", "1e3", "18446744073709551616", "99999999999999999999"],
    ],
    ["payout", [undefined, 7, "", "0x", `${wire.payout}0`, `0X${wire.payout.slice(2)}`, ` ${wire.payout}`]],
    ["feeBps", [undefined, "50", -1, 0.5, 10_001, Number.NaN, null]],
    ["recoverAfter", [undefined, "1", -1, 0.5, 2 ** 48]],
    ["routesRoot", [undefined, "0x0"]],
  ];
  for (const [field, values] of malformed) {
    for (const value of values) {
      const spoiled = { ...wire, [field]: value };
      assert.throws(() => termsFromWire(spoiled), { name: "RangeError", message: new RegExp(field) });
    }
  }
});

test("addresses have EIP-55 checksums, and a wrong checksum is refused", () => {
  fc.assert(
    fc.property(anyAddress, fc.nat(), (address, choice) => {
      const spelled = checksumAddress(address);
      assert.equal(spelled, getAddress(address));
      assert.equal(parseAddress(spelled), address);
      assert.equal(parseAddress(address), address);
      assert.equal(parseAddress(`0x${address.slice(2).toUpperCase()}`), address);
      const letters = Array.from(spelled.slice(2).matchAll(/[a-f]/gi), (match) => match.index + 2);
      const at = letters[choice % letters.length];
      if (at === undefined || letters.length < 3) return;
      const letter = spelled.charAt(at);
      const swapped = letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase();
      const wrong = spelled.slice(0, at) + swapped + spelled.slice(at + 1);
      const oneCase = [wrong.toLowerCase(), `0x${wrong.slice(2).toUpperCase()}`].includes(wrong);
      if (!oneCase) assert.equal(parseAddress(wrong), undefined);
    }),
  );
});
