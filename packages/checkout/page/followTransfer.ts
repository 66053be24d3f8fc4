import type { PayerRequest } from "../src/payerSide.ts";
import type { Eip1193Provider } from "./eip1193.ts";

/** A wallet's node may not have the transfer yet; only one that it had before is lost. */
export type Following = { wasThere: boolean };

type Found = "mined" | "reverted" | "lost" | "elsewhere" | "pending";

/**
 * Asks the wallet's own connection what became of the transfer, because this page may ask no other node. A hash of
 * another transaction says nothing. Undefined when the wallet does not answer.
 */
export async function followTransfer(
  provider: Eip1193Provider,
  { hash, call, chainId }: Pick<PayerRequest, "hash" | "call"> & { readonly chainId: number },
  following: Following,
): Promise<Found | undefined> {
  const read = (method: string, ...params: readonly unknown[]) => provider.request({ method, params });
  try {
    const sent = (await read("eth_getTransactionByHash", hash)) as { to?: string; input?: string } | null;
    const isOurs = isEqual(sent?.to, call?.to) && isEqual(sent?.input, call?.data);
    if (BigInt(String(await read("eth_chainId"))) !== BigInt(chainId)) return isOurs ? "elsewhere" : undefined;
    if (sent === null) return following.wasThere ? "lost" : undefined;
    if (!isOurs) return undefined;
    following.wasThere = true;
    const receipt = (await read("eth_getTransactionReceipt", hash)) as { status?: string } | null;
    if (receipt === null) return "pending";
    return receipt.status === "0x0" ? "reverted" : "mined";
  } catch {
    return undefined;
  }
}

function isEqual(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && one.toLowerCase() === other?.toLowerCase();
}
