import assert from "node:assert/strict";
import { test } from "node:test";
import { computeCreate2Address } from "../../packages/inbox/src/create2.ts";
import { deterministicDeployer, hubAddress, hubSalt } from "../../packages/inbox/src/hub.generated.ts";
import { hubCreationCodeHash } from "../../packages/inbox/src/hubCode.generated.ts";
import { mineSalt } from "../scripts/mineSalt.ts";

test("the search finds the lowest salt, and the hub's salt gives its address with three zero bytes", async () => {
  const salt = await mineSalt(deterministicDeployer, hubCreationCodeHash, 1);
  for (let other = 0n; other < BigInt(salt); other += 1n)
    assert.ok(!addressWith(other).startsWith("0x00"), `${other} would do`);
  assert.ok(addressWith(BigInt(salt)).startsWith("0x00"));
  assert.equal(addressWith(BigInt(hubSalt)), hubAddress);
  assert.match(hubAddress, /^0x000000/);
});

function addressWith(salt: bigint): string {
  const word = `0x${salt.toString(16).padStart(64, "0")}` as const;
  return computeCreate2Address(deterministicDeployer, word, hubCreationCodeHash);
}
