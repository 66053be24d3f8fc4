import { walletSignaturesOf } from "../../chain/namespaces.ts";
import { ChainMismatch } from "../../chain/providers.ts";
import { ProviderFailed } from "../../chain/reader.ts";
import { namespaceOf, type Caip2, type Namespace } from "../../kernel/caip.ts";
import { Fault } from "../../kernel/faults.ts";
import type { World } from "../../world.ts";

const ANSWER_MS_MAX = 8_000;

type SignedText = { namespace: Namespace; wallet: string; text: string; signature: string };

/** Whether the wallet's private key signed the text. `signature` may begin with 0x. */
export function isSignedByKey({ namespace, wallet, text, signature }: SignedText): Promise<boolean> {
  return walletSignaturesOf(namespace).isSigned({ wallet, text, signature: digitsOf(signature) });
}

/**
 * Whether the wallet, a contract on this chain, signed the text. It asks the chain's providers, so never in a
 * transaction. Throws invalid_request when they do not answer in time.
 */
export async function isSignedByContract(
  { chains, clock }: Pick<World, "chains" | "clock">,
  chain: Caip2,
  { wallet, text, signature }: Omit<SignedText, "namespace">,
): Promise<boolean> {
  const asked = namespaceOf(chain) === "eip155" ? chains.get(chain)?.isSignedByContract : undefined;
  if (asked === undefined) return false;
  const ending = new AbortController();
  try {
    const answer = await Promise.race([
      asked({ wallet, text, signature: digitsOf(signature) }),
      clock.sleep(ANSWER_MS_MAX, ending.signal).then(() => undefined),
    ]);
    if (answer !== undefined) return answer;
  } catch (error) {
    if (!(error instanceof ProviderFailed || error instanceof ChainMismatch)) throw error;
  } finally {
    ending.abort();
  }
  throw new Fault("invalid_request", {
    param: "signature",
    message: "The providers of this wallet's chain do not answer. Nothing was changed; try again in a moment.",
  });
}

function digitsOf(signature: string): string {
  return signature.replace(/^0x/, "");
}
