import type { Params } from "./params.ts";

/** The methods of JSON-RPC by name. They throw an RpcError for what they refuse. */
export type Methods = Readonly<Record<string, (params: Params) => unknown>>;
