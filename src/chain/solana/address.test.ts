import assert from "node:assert/strict";
import { createHash, generateKeyPairSync } from "node:crypto";
import { test } from "node:test";
import { encodeKey, parseKey } from "@tributary/inbox/solana/keys";
import { AddressFingerprints } from "./addressFingerprints.ts";
import { findSolanaWalletProblem, solanaAddresses } from "./address.ts";

const MINT = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v";
const OWNER = "B8UwBUUnKwCyKuGMbFKWaG7exYdDk2ozZrPg72NyVbfj";
const ACCOUNT = "DShWnroshVbeUp28oopA3Pu7oFPDBtC1DBmPECXXAQ9n";
const faultOf = (text: string) => findSolanaWalletProblem(text, new Set([MINT]));

/** Public keys of ordinary wallets. */
const WALLETS = [
  OWNER,
  ...Array.from({ length: 15 }, () =>
    encodeKey(
      new Uint8Array(generateKeyPairSync("ed25519").publicKey.export({ format: "der", type: "spki" }).subarray(-32)),
    ),
  ),
];

const UNPAYABLE = [
  MINT,
  ACCOUNT,
  "11111111111111111111111111111111",
  "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA",
  "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb",
  "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL",
  "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr",
  "Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo",
  "So11111111111111111111111111111111111111112",
  "ComputeBudget111111111111111111111111111111",
  "Vote111111111111111111111111111111111111111",
  "Stake11111111111111111111111111111111111111",
  "Config1111111111111111111111111111111111111",
  "BPFLoader2111111111111111111111111111111111",
  "BPFLoaderUpgradeab1e11111111111111111111111",
  "AddressLookupTab1e1111111111111111111111111",
  "Ed25519SigVerify111111111111111111111111111",
  "SysvarC1ock11111111111111111111111111111111",
  "SysvarRent111111111111111111111111111111111",
  "Sysvar1nstructions1111111111111111111111111",
  "SysvarS1otHashes111111111111111111111111111",
  "1nc1nerator11111111111111111111111111111111",
  ...derivedAddresses(8),
];

const MALFORMED = [
  "",
  " ",
  "1",
  "1".repeat(31),
  "1".repeat(33),
  "1".repeat(44),
  "z".repeat(44),
  "2".repeat(43),
  ` ${OWNER}`,
  `${OWNER} `,
  `${OWNER}\n`,
  `${OWNER}1`,
  `1${OWNER}`,
  OWNER.slice(8),
  OWNER.slice(0, -8),
  OWNER.replace("B", "0"),
  OWNER.replace("U", "O"),
  OWNER.replace("U", "I"),
  OWNER.replace("w", "l"),
  OWNER.replace("B", "В"),
  OWNER.replace("U", "U\u200b"),
  `solana:${OWNER}`,
  "0x52908400098527886E0F7030069857D2E4169EE7",
  Buffer.from(parseKey(OWNER) ?? []).toString("hex"),
  Buffer.from(parseKey(OWNER) ?? []).toString("base64"),
  "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq",
];

test("D11 base58 of 32 bytes on the curve is accepted as a Solana wallet", () => {
  assert.ok(WALLETS.length + UNPAYABLE.length + MALFORMED.length >= 60);
  for (const text of WALLETS) assert.equal(faultOf(text), undefined, text);
  for (const text of MALFORMED) assert.equal(faultOf(text), "malformed", JSON.stringify(text));
});

test("D11 programs, mints and derived addresses such as token accounts are refused as wallets", () => {
  for (const text of UNPAYABLE) assert.equal(faultOf(text), "unpayable", text);
});

/** Addresses derived as programs derive them: hashes that lie off the curve. */
function derivedAddresses(count: number): string[] {
  const found: string[] = [];
  for (let nonce = 0; found.length < count && nonce < 100; nonce += 1) {
    const address = encodeKey(new Uint8Array(createHash("sha256").update(`${nonce} ProgramDerivedAddress`).digest()));
    if (findSolanaWalletProblem(address, new Set()) === "unpayable") found.push(address);
  }
  return found;
}

test("watched addresses are found as they are written, and in no other case", () => {
  const matcher = solanaAddresses.createMatcher();
  matcher.addAll(Buffer.from(`,${OWNER},,${ACCOUNT}`));
  assert.equal(matcher.size, 2);
  assert.ok(matcher.has(OWNER) && matcher.has(ACCOUNT));
  assert.ok(!matcher.has(OWNER.toLowerCase()) && !matcher.has(""));
});

test("a million watched addresses take less than 20 MB, and each is found", () => {
  const matcher = new AddressFingerprints();
  const addressAt = (index: number) => `${index.toString(36).padStart(8, "0")}${OWNER.slice(8)}`;
  for (let page = 0; page < 100; page += 1) {
    const addresses = Array.from({ length: 10_000 }, (_, index) => addressAt(page * 10_000 + index));
    matcher.addAll(Buffer.from(addresses.join(",")));
    matcher.addAll(Buffer.from(addresses.slice(0, 10).join(",")));
  }
  assert.equal(matcher.size, 1_000_000);
  assert.ok(matcher.byteLength < 20_000_000);
  for (let index = 0; index < 1_000_000; index += 997) assert.ok(matcher.has(addressAt(index)));
  for (let index = 1_000_000; index < 1_010_000; index += 1) assert.ok(!matcher.has(addressAt(index)));
});
