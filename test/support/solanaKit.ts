import {
  AccountRole,
  address,
  appendTransactionMessageInstructions,
  assertIsTransactionWithBlockhashLifetime,
  compressTransactionMessageUsingAddressLookupTables,
  createKeyPairSignerFromPrivateKeyBytes,
  createSolanaRpc,
  createTransactionMessage,
  getBase64EncodedWireTransaction,
  pipe,
  setTransactionMessageComputeUnitLimit,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  setTransactionMessageLoadedAccountsDataSizeLimit,
  setTransactionMessagePriorityFeeLamports,
  signTransactionMessageWithSigners,
} from "@solana/kit";
import type { Blockhash, Instruction } from "@solana/kit";
import type { SolanaInstruction } from "@tributary/inbox/solana/instructions";
import type { Keypair } from "../../packages/local-solana/src/keypairs.ts";

const COMPUTE_UNITS = 200_000;
const LOADED_BYTES = 1_000_000;

export type KitTransactionOptions = {
  /** Pays, and is the only signer. */
  readonly payer: Keypair;
  readonly instructions: readonly SolanaInstruction[];
  readonly lifetime: Readonly<{ blockhash: Blockhash; lastValidBlockHeight: bigint }>;
  /** Default 0. */
  readonly version?: 0 | 1;
  /** Of version 1. */
  readonly priorityFeeLamports?: bigint;
  /** Addresses of lookup tables by table. Version 0 only. */
  readonly tables?: Readonly<Record<string, readonly string[]>>;
};

/** Builds and signs a transaction with @solana/kit, as wallets do. */
export async function signWithKit(options: KitTransactionOptions) {
  if (options.version === 1) return signVersion1(options);
  const { payer, instructions, lifetime, tables = {} } = options;
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

async function signVersion1({ payer, instructions, lifetime, priorityFeeLamports = 0n }: KitTransactionOptions) {
  const signer = await createKeyPairSignerFromPrivateKeyBytes(payer.seed);
  const message = pipe(
    createTransactionMessage({ version: 1 }),
    (each) => setTransactionMessageFeePayerSigner(signer, each),
    (each) => setTransactionMessageLifetimeUsingBlockhash(lifetime, each),
    (each) => appendTransactionMessageInstructions(instructions.map(toKitInstruction), each),
    (each) => setTransactionMessageComputeUnitLimit(COMPUTE_UNITS, each),
    (each) => setTransactionMessageLoadedAccountsDataSizeLimit(LOADED_BYTES, each),
    (each) => setTransactionMessagePriorityFeeLamports(priorityFeeLamports, each),
  );
  const signed = await signTransactionMessageWithSigners(message);
  assertIsTransactionWithBlockhashLifetime(signed);
  return signed;
}

/** Sends a transaction of version 1 over the node. Returns its signature. */
export async function sendVersion1(
  { url }: { url: string },
  { payer, instructions }: Pick<KitTransactionOptions, "payer" | "instructions">,
): Promise<string> {
  const rpc = createSolanaRpc(url);
  const { value: lifetime } = await rpc.getLatestBlockhash({ commitment: "processed" }).send();
  const signed = await signWithKit({ payer, instructions, lifetime, version: 1 });
  const wire = getBase64EncodedWireTransaction(signed);
  return rpc.sendTransaction(wire, { encoding: "base64", preflightCommitment: "processed" }).send();
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
