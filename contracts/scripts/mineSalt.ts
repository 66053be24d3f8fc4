import { concat, hexToBytes, numberToHex } from "viem";
import type { Hex } from "viem";
import { keccak256 } from "../../packages/inbox/src/keccak.ts";
import { enableWasmKeccak } from "../../packages/inbox/src/wasmKeccak.ts";

// Finds the salt of a deployment whose address begins with zero bytes. The salts are the numbers from 0 on, so that the
// search always finds the same one. Three zero bytes take 17 million tries on average: half a minute.

const SALT_START = 21;
const SALTS_PER_WORD = 2 ** 32;

/** The lowest salt at which `deployer` creates the code at an address that begins with `zeroBytes` zero bytes. */
export async function mineSalt(deployer: Hex, creationCodeHash: Hex, zeroBytes: number): Promise<Hex> {
  await enableWasmKeccak();
  const message = hexToBytes(concat(["0xff", deployer, numberToHex(0, { size: 32 }), creationCodeHash]));
  const words = new DataView(message.buffer, SALT_START, 32);
  for (let salt = 0; salt < SALTS_PER_WORD; salt += 1) {
    words.setUint32(28, salt);
    const hash = keccak256(message);
    if (hash.subarray(12, 12 + zeroBytes).every((byte) => byte === 0)) return numberToHex(salt, { size: 32 });
  }
  throw new Error(`no salt below 2^32 gives ${zeroBytes} zero bytes`);
}
