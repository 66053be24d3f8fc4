import type { Namespace } from "../../kernel/caip.ts";
import type { Payer } from "./payer.ts";

/**
 * Opens the payer of a chain of the namespace. Both load on demand, because each takes a while. Throws UsageError and
 * CommandError.
 */
export async function openPayer(namespace: Namespace, options: { rpcUrl: string; privateKey: string }): Promise<Payer> {
  if (namespace === "solana") return (await import("./solanaPayer.ts")).createSolanaPayer(options);
  return (await import("./payer.ts")).createPayer(options);
}
