/** What a wallet answered: the hash that it names, or why it did not send. */
export type WalletReply = { readonly hash?: unknown; readonly reason?: unknown };

export type TransferCall = { readonly to: string; readonly data: string };

type CodedError = { readonly code?: unknown };
type WalletError = CodedError & {
  readonly data?: { readonly originalError?: CodedError; readonly cause?: CodedError };
};

/** The code of a wallet's error. Some wallets put it into the data of another error, by one of two names. */
export function readCode(error: unknown): unknown {
  const { code, data } = (error ?? {}) as WalletError;
  return data?.originalError?.code ?? data?.cause?.code ?? code;
}
