/** What a wallet answered: the hash that it names, or why it did not send. */
export type WalletReply = { readonly hash?: unknown; readonly reason?: unknown };

export type TransferCall = { readonly to: string; readonly data: string };

/** The code of a wallet's error. Some wallets put it into the data of another error. */
export function readCode(error: unknown): unknown {
  const { code, data } = (error ?? {}) as { code?: unknown; data?: { originalError?: { code?: unknown } } };
  return data?.originalError?.code ?? code;
}
