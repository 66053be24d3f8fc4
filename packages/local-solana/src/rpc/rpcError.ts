// The error codes of JSON-RPC and of Solana's nodes.

export const RPC_ERRORS = {
  parseError: -32_700,
  invalidRequest: -32_600,
  methodNotFound: -32_601,
  invalidParams: -32_602,
  internalError: -32_603,
  blockCleanedUp: -32_001,
  preflightFailure: -32_002,
  signatureFailure: -32_003,
  blockNotAvailable: -32_004,
  nodeUnhealthy: -32_005,
  slotSkipped: -32_007,
  slotSkippedInLongTermStorage: -32_009,
  unsupportedTransactionVersion: -32_015,
  minContextSlotNotReached: -32_016,
} as const;

export class RpcError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(name: keyof typeof RPC_ERRORS, message: string, data?: unknown) {
    super(message);
    this.code = RPC_ERRORS[name];
    this.data = data;
  }
}

export function toErrorReply(error: unknown): { code: number; message: string; data?: unknown } {
  if (!(error instanceof RpcError)) return { code: RPC_ERRORS.internalError, message: String(error) };
  const { code, message, data } = error;
  return data === undefined ? { code, message } : { code, message, data };
}
