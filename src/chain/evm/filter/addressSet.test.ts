import { deepEqual, equal, ok, throws } from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../../test/support/properties.ts";
import { randomAddress } from "../../../../test/support/intents.ts";
import { AddressSet } from "./addressSet.ts";

const HEX = 40;

test("a set of addresses holds exactly the added ones, however similar the others are", () => {
  // Equal in all bytes that the hash reads, in those that it does not read, or in neither.
  const address = fc.oneof(
    fc.stringMatching(/^0x[0-9a-f]{30}00[0f]{8}$/),
    fc.stringMatching(/^0x[0f]{6}0{34}$/),
    fc.stringMatching(/^0x0{20}[0-9a-f]{20}$/),
  );
  const sample = { addresses: fc.uniqueArray(address, { maxLength: 2_000, minLength: 200 }), seed: seeds() };
  fc.assert(
    fc.property(fc.record(sample), ({ addresses, seed }) => {
      const set = new AddressSet(seed);
      const added = addresses.slice(0, addresses.length / 2);
      for (const one of [...added, ...added]) set.addHexAt(ascii(one), 2);
      equal(set.size, added.length);
      const known = new Set(added);
      for (const one of addresses) {
        equal(set.has(one), known.has(one));
        equal(set.hasAt(ascii(one), 2), known.has(one));
      }
    }),
    { numRuns: 20 },
  );
});

test("an address is found in raw bytes in either case, and nothing else is", () => {
  const text = fc.oneof(
    fc.stringMatching(/^[0-9a-fA-F]{40}$/),
    fc
      .tuple(fc.stringMatching(/^[0-9a-f]{40}$/), fc.nat(HEX - 1), fc.integer({ min: 0, max: 255 }))
      .map(([hex, at, code]) => `${hex.slice(0, at)}${String.fromCharCode(code)}${hex.slice(at + 1)}`),
  );
  fc.assert(
    fc.property(text, fc.nat(9), seeds(), (hex, offset, seed) => {
      const set = new AddressSet(seed);
      const isHex = /^[0-9a-fA-F]{40}$/.test(hex);
      // The address that the non-hex bytes would decode to is in the set; the bytes must not match it.
      if (isHex) set.addHexAt(ascii(`0x${hex.toLowerCase()}`), 2);
      else set.addHexAt(ascii(decodeLeniently(hex)), 2);
      const bytes = Buffer.concat([Buffer.alloc(offset, "f"), Buffer.from(hex, "latin1"), Buffer.alloc(9, "f")]);
      equal(set.hasAt(bytes, offset), isHex);
      equal(set.hasAt(bytes, offset + 1), isHex && `${hex}f`.slice(1).toLowerCase() === hex.toLowerCase());
    }),
    { numRuns: 500 },
  );
});

test("addresses whose hash equals the free-slot mark are held too", () => {
  const start = fc.stringMatching(/^[0-9a-f]{32}$/);
  fc.assert(
    fc.property(
      fc.uniqueArray(start, { minLength: 2, maxLength: 50 }),
      fc.integer({ min: 0, max: 3_000 }),
      (starts, rest) => {
        const set = new AddressSet(new Uint8Array(4));
        const [stranger, ...known] = starts.map((one) => `0x${one}331da083`);
        for (const address of known) set.addHexAt(ascii(address), 2);
        for (let count = 0; count < rest; count += 1) set.addHexAt(ascii(randomAddress()), 2);
        for (const address of known) ok(set.has(address) && set.hasAt(ascii(address.toUpperCase()), 2));
        equal(stranger !== undefined && set.has(stranger), false);
        equal(set.size, known.length + rest);
      },
    ),
    { numRuns: 20 },
  );
});

test("many addresses with one hash are held at any hash", () => {
  // With a zero seed: the last hashes of the first, the middle and the last shard, and the highest hash of a slot.
  for (const end of ["5108382f", "9c0d8e22", "dbdf60c1"]) {
    const set = new AddressSet(new Uint8Array(4));
    const crowd = Array.from({ length: 200 }, () => `${randomAddress().slice(0, 34)}${end}`);
    const others = Array.from({ length: 5_000 }, randomAddress);
    for (const one of [...crowd.slice(100), ...others, ...crowd.slice(0, 100)]) set.addHexAt(ascii(one), 2);
    ok([...crowd, ...others].every((one) => set.has(one)));
    equal(set.has(`${randomAddress().slice(0, 34)}${end}`), false);
    equal(set.size, crowd.length + others.length);
  }
});

test("bytes that end within an address hold none", () => {
  const set = new AddressSet();
  const address = `0x${"0".repeat(HEX)}`;
  set.addHexAt(ascii(address), 2);
  const bytes = ascii(address);
  deepEqual(
    [-1, 0, 2, 3, 22, 41, 42, 1_000].map((offset) => set.hasAt(bytes, offset)),
    [false, false, true, false, false, false, false, false],
  );
});

test("joined addresses are added, empty ones are skipped, and anything else is refused", () => {
  const set = new AddressSet();
  const [one, other] = [randomAddress(), randomAddress()];
  set.addAll(ascii(`,${one},,${other},`));
  set.addAll(ascii(""));
  set.addAll(ascii(one));
  ok(set.has(one) && set.has(other));
  equal(set.size, 2);
  for (const wrong of [one.slice(0, -1), `${one}a`, one.slice(2), `${one} ${other}`, `1x${one.slice(2)}`])
    throws(() => set.addAll(ascii(wrong)), wrong);
});

test("a set of addresses grows without loss, and stays small", () => {
  const set = new AddressSet();
  const addresses = Array.from({ length: 50_000 }, randomAddress);
  for (const one of addresses) set.addHexAt(ascii(one), 2);
  ok(addresses.every((one) => set.has(one)));
  equal(set.has(randomAddress()), false);
  ok(set.byteLength / set.size < 40, `${set.byteLength / set.size} bytes an address`);
});

function seeds() {
  return fc.uint8Array({ minLength: 4, maxLength: 4 });
}

function ascii(address: string): Uint8Array {
  return Buffer.from(address, "latin1");
}

/** The address that a decoder without digit checks would make of a text. */
function decodeLeniently(text: string): string {
  const words = [0, 8, 16, 24, 32].map((start) => {
    const codes = Array.from(text.slice(start, start + 8), (character) => character.charCodeAt(0));
    const word = codes.reduce((left, code) => (left << 4) | ((code & 0xf) + 9 * (code >>> 6)), 0);
    return (word >>> 0).toString(16).padStart(8, "0");
  });
  return `0x${words.join("")}`;
}
