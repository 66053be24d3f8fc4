import { createPrivateKey, createPublicKey, sign, type KeyObject } from "node:crypto";
import { buildPayment } from "@tributary/inbox/solana/instructions";
import { encodeKey } from "@tributary/inbox/solana/keys";
import { sendSolanaTransaction, type SolanaSigner } from "@tributary/recover/solana/sendSolanaTransaction";
import { Mints } from "../../chain/solana/read/mints.ts";
import { parseArray, parseObject } from "../../chain/rpc/jsonValues.ts";
import { parseAddress, parseCount } from "../../chain/solana/rpc/values.ts";
import { UnreadableTransaction, VERSION_MAX } from "../../chain/solana/rpc/parseTransaction.ts";
import { SolanaRpc } from "../../chain/solana/rpc/solanaRpc.ts";
import { findTokenAccount } from "../../chain/solana/tokenAccount.ts";
import { parseKeyPair } from "../../config/solana/feePayerKey.ts";
import { caip2 } from "../../kernel/caip.ts";
import { systemTimer } from "../../kernel/clock.ts";
import { CommandError, UsageError } from "../errors.ts";
import type { Payer } from "./payer.ts";
import { withChainError } from "./withChainError.ts";

/** The change of one account's lamports by a transaction. */
export type LamportChange = { address: string; before: bigint; after: bigint };

export type SolanaPayer = Payer & {
  /** Balance of a token account; 0 when it does not exist. */
  unitsOf(tokenAccount: string): Promise<bigint>;
  /** What a transaction did with lamports. Its first account pays the fee. */
  readLamports(txHash: string): Promise<{ feeLamports: bigint; changes: LamportChange[] }>;
};

const SECRET_BYTES = 32;
const REFERENCE_LENGTH = 32;
/** Mint and owner, then the balance. */
const UNITS_OFFSET = 64;
const BALANCE_BYTES = 72;

/**
 * A payer on Solana. Throws UsageError for an invalid key, CommandError when the node does not answer as one of Solana.
 */
export async function createSolanaPayer({
  rpcUrl,
  privateKey,
}: {
  rpcUrl: string;
  privateKey: string;
}): Promise<SolanaPayer> {
  const signer = parseSigner(privateKey);
  const rpc = new SolanaRpc({ url: rpcUrl });
  const mints = new Mints(rpc);
  const unitsOf = async (tokenAccount: string) => {
    const { accounts } = await rpc.accounts([tokenAccount], BALANCE_BYTES);
    const data = accounts[0]?.data;
    return data?.length === BALANCE_BYTES ? data.readBigUInt64LE(UNITS_OFFSET) : 0n;
  };
  const balanceOf = async (mint: string, owner: string) => {
    const { tokenProgram } = await mints.get(mint);
    return unitsOf(findTokenAccount({ owner, mint, tokenProgram }));
  };
  const genesisHash = await withChainError(rpc.genesisHash(), "The chain does not answer as a cluster of Solana");
  return {
    address: signer.address,
    caip2: caip2("solana", genesisHash.slice(0, REFERENCE_LENGTH)),
    async transfer(mint, to, amountUnits) {
      const { tokenProgram, decimals } = await withChainError(mints.get(mint), "The chain rejects the transfer");
      const held = await withChainError(balanceOf(mint, signer.address), "The balance cannot be read");
      if (held < amountUnits)
        throw new CommandError(
          `The payer ${signer.address} holds ${held} units of ${mint}, which is less than ${amountUnits}.`,
        );
      const instructions = buildPayment(
        { address: to, mint, tokenProgram },
        { payer: signer.address, units: amountUnits, decimals },
      );
      const sender = {
        request: (method: string, params: readonly unknown[]) => rpc.call(method, params),
        signers: [signer],
        sleep: (ms: number) => systemTimer.sleep(ms),
      };
      const txHash = await withChainError(
        sendSolanaTransaction(sender, instructions),
        "The chain rejects the transfer",
      );
      return { txHash, blockNumber: await withChainError(readSlot(rpc, txHash), `${txHash} cannot be read`) };
    },
    balanceOf: (mint, owner) => withChainError(balanceOf(mint, owner), "The balance cannot be read"),
    unitsOf: (tokenAccount) => withChainError(unitsOf(tokenAccount), "The balance cannot be read"),
    readLamports: (txHash) => withChainError(readLamports(rpc, txHash), `${txHash} cannot be read`),
  };
}

async function readSlot(rpc: SolanaRpc, signature: string): Promise<bigint> {
  const [transaction] = await rpc.transactions([signature]);
  if (transaction === undefined) throw new Error("the node does not have it any more");
  if (transaction instanceof UnreadableTransaction) throw new Error(`it cannot be read: ${transaction.reason}`);
  return transaction.slot;
}

async function readLamports(
  rpc: SolanaRpc,
  signature: string,
): Promise<{ feeLamports: bigint; changes: LamportChange[] }> {
  const options = { commitment: "confirmed", encoding: "json", maxSupportedTransactionVersion: VERSION_MAX };
  const { meta, transaction } = parseObject(await rpc.call("getTransaction", [signature, options]), "a transaction");
  const { fee, preBalances, postBalances } = parseObject(meta, "the result of a transaction");
  const { message } = parseObject(transaction, "a transaction's message");
  const keys = parseArray(parseObject(message, "a message")["accountKeys"], "addresses");
  const [before, after] = [parseArray(preBalances, "balances"), parseArray(postBalances, "balances")];
  const changes = keys.map((address, index) => ({
    address: parseAddress(address, "an address"),
    before: parseLamports(before[index]),
    after: parseLamports(after[index]),
  }));
  return { feeLamports: parseLamports(fee), changes };
}

function parseLamports(value: unknown): bigint {
  return BigInt(parseCount(value, "lamports"));
}

function parseSigner(privateKey: string): SolanaSigner {
  const pair = parseKeyPair(privateKey);
  const key = pair && openKeyPair(pair);
  if (pair === undefined || key === undefined)
    throw new UsageError(
      "The payer's private key on Solana must be the 64 bytes of a key pair, in base58 or as solana-keygen writes them.",
    );
  return { address: encodeKey(pair.subarray(SECRET_BYTES)), sign: (bytes) => new Uint8Array(sign(null, bytes, key)) };
}

/** Undefined when the public key does not belong to the secret key. */
function openKeyPair(pair: Uint8Array): KeyObject | undefined {
  const encode = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64url");
  const [d, x] = [encode(pair.subarray(0, SECRET_BYTES)), encode(pair.subarray(SECRET_BYTES))];
  const key = createPrivateKey({ key: { kty: "OKP", crv: "Ed25519", d, x }, format: "jwk" });
  return createPublicKey(key).export({ format: "jwk" }).x === x ? key : undefined;
}
