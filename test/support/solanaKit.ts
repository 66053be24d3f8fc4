import {
  AccountRole,
  address,
  appendTransactionMessageInstructions,
  assertIsTransactionWithBlockhashLifetime,
  compressTransactionMessageUsingAddressLookupTables,
  createKeyPairSignerFromPrivateKeyBytes,
  createTransactionMessage,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from "@solana/kit";
import type { Blockhash, Instruction } from "@solana/kit";
import type { SolanaInstruction } from "@tributary/inbox/solana/instructions";
import type { Keypair } from "../../src/dev/solana/keypairs.ts";

export type KitTransactionOptions = {
  /** Pays, and is the only signer. */
  readonly payer: Keypair;
  readonly instructions: readonly SolanaInstruction[];
  readonly lifetime: Readonly<{ blockhash: Blockhash; lastValidBlockHeight: bigint }>;
  /** Addresses of lookup tables by table. */
  readonly tables?: Readonly<Record<string, readonly string[]>>;
};

/** Builds and signs a transaction of version 0 with @solana/kit, as wallets do. */
export async function signWithKit({ payer, instructions, lifetime, tables = {} }: KitTransactionOptions) {
  const signer = await createKeyPairSignerFromPrivateKeyBytes(payer.seed);
  const lookups = Object.entries(tables).map(([table, keys]) => [address(table), keys.map((key) => address(key))]);
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (each) => setTransactionMessageFeePayerSigner(signer, each),
    (each) => setTransactionMessageLifetimeUsingBlockhash(lifetime, each),
    (each) => appendTransactionMessageInstructions(instructions.map(toKitInstruction), each),
    (each) => compressTransactionMessageUsingAddressLookupTables(each, Object.fromEntries(lookups)),
  );
  const signed = await signTransactionMessageWithSigners(message);
  assertIsTransactionWithBlockhashLifetime(signed);
  return signed;
}

function toKitInstruction({ program, accounts, data }: SolanaInstruction): Instruction {
  const metas = accounts.map(({ address: key, isSigner, isWritable }) => ({
    address: address(key),
    role: isSigner
      ? isWritable
        ? AccountRole.WRITABLE_SIGNER
        : AccountRole.READONLY_SIGNER
      : isWritable
        ? AccountRole.WRITABLE
        : AccountRole.READONLY,
  }));
  return { programAddress: address(program), accounts: metas, data };
}
