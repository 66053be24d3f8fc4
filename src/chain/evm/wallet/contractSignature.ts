import { encodeFunctionData, hashMessage, parseAbi, type Hex } from "viem";
import { ProviderFailed } from "../../reader.ts";
import type { EvmProviders } from "../evmProviders.ts";
import { CallReverted, type EvmNode } from "../node.ts";

// A wallet that is a contract has no private key: the contract says whether it signed a text (EIP-1271).

const abi = parseAbi(["function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)"]);
/** The function's selector, in a word. Anything else is no. */
const IS_VALID = `0x1626ba7e${"0".repeat(56)}`;
/** Providers that have to say so, where there are as many: a false one must not sign for others. */
const PROVIDERS_MIN = 2;
/** Owners of a shared wallet sign one after the other, with 65 bytes each. */
const DIGITS_MAX = 8_192;

/**
 * Whether the contract signed the text, by every provider that answers. False where no contract is. Throws
 * ProviderFailed when too few answer.
 */
export async function isSignedByContract(
  providers: EvmProviders,
  { wallet, text, signature }: { wallet: string; text: string; signature: string },
): Promise<boolean> {
  if (!/^([0-9a-f]{2})*$/i.test(signature) || signature.length > DIGITS_MAX) return false;
  const data = encodeFunctionData({ abi, args: [hashMessage(text), `0x${signature}` as Hex] });
  const replies = await providers.runAll((node) => askContract(node, { to: wallet, data }));
  const answers = replies.flatMap((reply) => ("answer" in reply ? [reply.answer] : []));
  if (answers.includes(false)) return false;
  if (answers.length < Math.min(PROVIDERS_MIN, providers.providerCount))
    throw new ProviderFailed("unreachable", `too few providers of ${providers.caip2} answer`);
  return true;
}

async function askContract(node: EvmNode, call: { to: string; data: string }): Promise<boolean> {
  try {
    return (await node.call(call)).toLowerCase() === IS_VALID;
  } catch (error) {
    if (error instanceof CallReverted) return false;
    throw error;
  }
}
