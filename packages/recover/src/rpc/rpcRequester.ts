/** Sends one JSON-RPC request, through a browser's wallet or a client. Rejects when the chain refuses. */
export type RpcRequester = (method: string, params: readonly unknown[]) => Promise<unknown>;
