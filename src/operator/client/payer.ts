import {
  createPublicClient,
  createWalletClient,
  defineChain,
  encodeFunctionData,
  erc20Abi,
  http,
  isHex,
  type Hex,
} from "viem";
import { privateKeyToAccount, type PrivateKeyAccount } from "viem/accounts";
import { caip2, type Caip2 } from "../../kernel/caip.ts";
import { CommandError, UsageError } from "../errors.ts";
import { withChainError } from "./withChainError.ts";

/** A payer's wallet: sends token transfers and reads balances from the chain. */
export type Payer = {
  address: string;
  /** As the node reports it. */
  caip2: Caip2;
  /** Resolves once the transfer is mined; on Solana confirmed. Throws CommandError when the chain rejects it. */
  transfer(token: string, to: string, amountUnits: bigint): Promise<{ txHash: string; blockNumber: bigint }>;
  balanceOf(token: string, owner: string): Promise<bigint>;
};

const POLL_MS = 250;
/** A transfer to an empty inbox costs more gas. A sweep after the estimate may empty the inbox. */
const GAS_MARGIN = 2n;
const RECEIPT_MS_MAX = 120_000;

/** Throws UsageError for an invalid key, CommandError when the node does not answer. */
export async function createPayer({ rpcUrl, privateKey }: { rpcUrl: string; privateKey: string }): Promise<Payer> {
  const account = parsePrivateKey(privateKey);
  const transport = http(rpcUrl);
  const reader = createPublicClient({ transport, pollingInterval: POLL_MS, cacheTime: 0 });
  const chainId = await withChainError(reader.getChainId(), "The chain does not answer");
  const chain = defineChain({
    id: chainId,
    name: String(chainId),
    nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
    rpcUrls: { default: { http: [rpcUrl] } },
  });
  const wallet = createWalletClient({ account, chain, transport });
  return {
    address: account.address,
    caip2: caip2("eip155", String(chainId)),
    async transfer(token, to, amountUnits) {
      const data = encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [to as Hex, amountUnits] });
      const call = { account: account.address, to: token as Hex, data };
      const gas = await withChainError(reader.estimateGas(call), "The chain rejects the transfer");
      const sent = wallet.sendTransaction({ to: call.to, data, gas: gas * GAS_MARGIN });
      const txHash = await withChainError(sent, "The chain rejects the transfer");
      const receipt = await withChainError(
        reader.waitForTransactionReceipt({ hash: txHash, timeout: RECEIPT_MS_MAX }),
        `The transfer ${txHash} was not mined`,
      );
      if (receipt.status === "reverted") throw new CommandError(`The transfer ${txHash} reverted.`);
      return { txHash, blockNumber: receipt.blockNumber };
    },
    balanceOf: (token, owner) =>
      withChainError(
        reader.readContract({ address: token as Hex, abi: erc20Abi, functionName: "balanceOf", args: [owner as Hex] }),
        "The balance cannot be read",
      ),
  };
}

function parsePrivateKey(privateKey: string): PrivateKeyAccount {
  const message = "The payer's private key must be 0x and 64 hex digits, and below the order of secp256k1.";
  if (!isHex(privateKey) || privateKey.length !== 66) throw new UsageError(message);
  try {
    return privateKeyToAccount(privateKey);
  } catch {
    throw new UsageError(message);
  }
}
