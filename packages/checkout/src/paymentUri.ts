/**
 * Builds the URI of a Solana Pay transaction request. A URL without a query is not encoded, so that the code is small.
 */
export function buildPaymentRequestUri(url: string): string {
  return `solana:${url.includes("?") ? encodeURIComponent(url) : url}`;
}

/**
 * Builds an EIP-681 URI: one call of the token's `transfer` to the inbox, with the amount in the token's units if one
 * is known. It asks a wallet for nothing else.
 */
export function buildPaymentUri(payment: {
  readonly tokenAddress: string;
  readonly chainId: number | string;
  readonly address: string;
  readonly units: bigint | null;
}): string {
  const amount = payment.units === null || payment.units === 0n ? "" : `&uint256=${payment.units}`;
  return `ethereum:${payment.tokenAddress}@${payment.chainId}/transfer?address=${payment.address}${amount}`;
}
