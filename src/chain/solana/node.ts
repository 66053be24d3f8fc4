import type { ChainReader } from "../reader.ts";

/** One provider of a Solana cluster. Its sender asks for more than the reader's port has. */
export interface SolanaNode extends ChainReader {
  /** Returns the `result` of one JSON-RPC call. Throws ProviderFailed for every failure. */
  request(method: string, params: readonly unknown[]): Promise<unknown>;
}
