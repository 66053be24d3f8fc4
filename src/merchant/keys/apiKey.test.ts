import assert from "node:assert/strict";
import { test } from "node:test";
import { systemEntropy } from "../../kernel/entropy.ts";
import { newApiKey, parseApiKey } from "./apiKey.ts";

test("§5.2 a key is prefix, environment, key id and 64 hexadecimal characters", () => {
  const { apiKey, keyId } = newApiKey("live", systemEntropy);
  assert.match(apiKey, /^trib_live_[0-9a-z]{16}_[0-9a-f]{64}$/);
  assert.equal(parseApiKey(apiKey)?.keyId, keyId);
});

test("a key with any one character changed is refused by its checksum", () => {
  const { apiKey } = newApiKey("test", systemEntropy);
  for (let index = "trib_test_".length; index < apiKey.length; index += 1) {
    const other = apiKey[index] === "0" ? "1" : "0";
    if (apiKey[index] === "_") continue;
    assert.equal(
      parseApiKey(apiKey.slice(0, index) + other + apiKey.slice(index + 1)),
      undefined,
      `character ${index}`,
    );
  }
});

test("the checksum is CRC-32 ISO-HDLC of everything before it", () => {
  const unchecked = `trib_test_${"0".repeat(16)}_${"0".repeat(56)}`;
  assert.notEqual(parseApiKey(unchecked + crcOf(unchecked)), undefined);
});

/** CRC-32 bit by bit, as the standard defines it. */
function crcOf(text: string): string {
  let crc = 0xffffffff;
  for (const byte of Buffer.from(text)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ((crc ^ 0xffffffff) >>> 0).toString(16).padStart(8, "0");
}
