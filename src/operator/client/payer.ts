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
import { CommandError, UsageError } from "../errors.ts";
import { withChainError } from "./withChainError.ts";

/** Somebody with a wallet: sends plain token transfers, and reads balances from the chain itself. */
export type Payer = {
  address: string;
  /** As the node says it. */
  chainId: number;
  /** Resolves once the transfer is in a block. Throws CommandError when the chain refuses it. */
  transfer(token: string, to: string, amountUnits: bigint): Promise<{ txHash: string; blockNumber: bigint }>;
  balanceOf(token: string, owner: string): Promise<bigint>;
};

const POLL_MS = 250;
/** A sweep that comes first leaves the inbox empty, and to fill an empty one costs more than was estimated. */
const GAS_MARGIN = 2n;
const RECEIPT_MS_MAX = 120_000;

/** Throws UsageError for a key that is none, CommandError when the node does not answer. */
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
    chainId,
    async transfer(token, to, amountUnits) {
      const data = encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [to as Hex, amountUnits] });
      const call = { account: account.address, to: token as Hex, data };
      const gas = await withChainError(reader.estimateGas(call), "The transfer was refused");
      const sent = wallet.sendTransaction({ to: call.to, data, gas: gas * GAS_MARGIN });
      const txHash = await withChainError(sent, "The transfer was refused");
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
  const refused = "The payer's private key is not 0x and 64 hex digits, or too large a number.";
  if (!isHex(privateKey) || privateKey.length !== 66) throw new UsageError(refused);
  try {
    return privateKeyToAccount(privateKey);
  } catch {
    throw new UsageError(refused);
  }
}
