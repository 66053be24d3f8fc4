import type { Db } from "../../src/db/database.ts";
import { systemEntropy } from "../../src/kernel/entropy.ts";
import { newId } from "../../src/kernel/ids.ts";
import { newApiKey } from "../../src/merchant/keys/apiKey.ts";
import { CREATE_INTENTS } from "../../src/merchant/keys/scopes.ts";

const KEY_ID_BYTES = 10;
const CREATED_AT = new Date("2026-11-01T12:00:00Z");

export type MerchantOptions = {
  chainReference: string;
  feeBps?: number;
  wallet?: string;
  recovery?: string;
  scopes?: string[];
};

/** Inserts an account with a complete default destination in USDC on one EVM chain, and an API key of it. */
export async function addMerchant(db: Db, options: MerchantOptions): Promise<{ accountId: string; apiKey: string }> {
  const accountId = newId("acct", systemEntropy);
  await db.root
    .insertInto("account")
    .values({
      id: accountId,
      name: "Test",
      environment: "test",
      payout_namespace: "eip155",
      payout_chain_reference: options.chainReference,
      payout_wallet: options.wallet ?? `0x${Buffer.from(systemEntropy.bytes(20)).toString("hex")}`,
      recovery: options.recovery ?? null,
      currency: "USDC",
      fee_bps: options.feeBps ?? 0,
      created_at: CREATED_AT,
    })
    .execute();
  const { keyId, apiKey, hash } = newApiKey("test", systemEntropy);
  const key = {
    key_id: keyId,
    account_id: accountId,
    secret_hash: hash,
    scopes: options.scopes ?? [CREATE_INTENTS],
    created_at: CREATED_AT,
  };
  await db.root.insertInto("api_key").values(key).execute();
  return { accountId, apiKey };
}

/** A key in valid form with a known id and a wrong secret. */
export function otherSecretOf(keyId: string): string {
  const bytes = (count: number) => (count === KEY_ID_BYTES ? keyBytes(keyId) : systemEntropy.bytes(count));
  return newApiKey("test", { bytes }).apiKey;
}

/** The random bytes behind a key id. */
function keyBytes(keyId: string): Uint8Array {
  const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
  let value = 0n;
  for (const character of keyId) value = value * 32n + BigInt(alphabet.indexOf(character));
  return new Uint8Array(Buffer.from(value.toString(16).padStart(KEY_ID_BYTES * 2, "0"), "hex"));
}
