import type { ProviderProfile, RpcError, ExceededRange } from "./fakeProvider.ts";

// Limits and error messages of real providers. The messages are verbatim; the limits are small, so that a test chain
// reaches them.

const toHexRange = ({ from, lastAllowed }: ExceededRange) => `[0x${from.toString(16)}, 0x${lastAllowed.toString(16)}]`;

function rpcError(code: number, message: string, more: Omit<RpcError, "code" | "message"> = {}): RpcError {
  return { code, message, ...more };
}

/** A refusal whose message names the largest allowed range. */
function blockLimit(blocks: number, refuse: (blocks: number) => RpcError): NonNullable<ProviderProfile["blocks"]> {
  return { max: blocks, buildError: () => refuse(blocks) };
}

export const PROVIDER_PROFILES: Readonly<Record<string, ProviderProfile>> = {
  "geth with a limit on ranges": {
    blocks: blockLimit(120, (blocks) => rpcError(-32000, `exceed maximum block range: ${blocks}`)),
    beyondHead: rpcError(-32602, "invalid block range params"),
    nodeLags: [0, 2],
  },
  Erigon: {
    blocks: blockLimit(300, (blocks) =>
      rpcError(-32602, `query block range exceeds server limit, narrow your filter: ${blocks}`),
    ),
    results: { max: 400, buildError: () => rpcError(-32000, "query returns too many logs, narrow your filter: 400") },
    beyondHead: rpcError(-32602, "block range extends beyond current head block"),
    nodeLags: [0, 1, 5],
  },
  Nethermind: {
    results: { max: 300, buildError: () => rpcError(-32005, "Too many logs requested. Max logs per response is 300.") },
    beyondHead: rpcError(-32001, "8633830 could not be found"),
    nodeLags: [0, 3],
  },
  Besu: {
    blocks: blockLimit(90, () => rpcError(-32005, "Requested range exceeds maximum RPC range limit")),
    beyondHead: rpcError(-32602, "Invalid block number params"),
    batches: { callsMax: 4, error: rpcError(-32005, "Number of requests exceeds max batch size") },
  },
  Reth: {
    results: {
      max: 250,
      buildError: ({ from, lastAllowed }) =>
        rpcError(-32602, `query exceeds max results 250, retry with the range ${from}-${lastAllowed}`),
    },
    batches: { callsMax: 0, error: rpcError(-32005, "Batched requests are not supported by this server") },
  },
  "a Reth that suggests the range it has just refused": {
    results: {
      max: 250,
      buildError: ({ from, to }) =>
        rpcError(-32602, `query exceeds max results 250, retry with the range ${from}-${to}`),
    },
  },
  Alchemy: {
    results: {
      max: 300,
      buildError: (range) =>
        rpcError(
          -32602,
          `Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range and no limit on the response size, or you can request any block range with a cap of 10K logs in the response. Based on your parameters and the response size limit, this block range should work: ${toHexRange(range)}`,
          { status: 400 },
        ),
    },
    rate: {
      oneIn: 25,
      error: rpcError(429, "Your app has exceeded its compute units per second capacity."),
      retryAfterS: 1,
    },
  },
  "Alchemy, free": {
    blocks: {
      max: 10,
      buildError: (range) =>
        rpcError(
          -32600,
          `Under the Free tier plan, you can make eth_getLogs requests with up to a 10 block range. Based on your parameters, this block range should work: ${toHexRange(range)}. Upgrade to PAYG for expanded block range.`,
          { status: 400 },
        ),
    },
  },
  Infura: {
    results: {
      max: 300,
      buildError: ({ from, lastAllowed }) =>
        rpcError(
          -32005,
          `query returned more than 300 results. Try with this block range [0x${from.toString(16)}, 0x${lastAllowed.toString(16)}].`,
          { data: { from: `0x${from.toString(16)}`, limit: 300, to: `0x${lastAllowed.toString(16)}` } },
        ),
    },
    rate: {
      oneIn: 40,
      error: rpcError(-32005, "project ID request rate exceeded", { data: { rate: { backoff_seconds: 3 } } }),
    },
    nodeLags: [0, 1],
  },
  "QuickNode, free": {
    blocks: blockLimit(5, (blocks) =>
      rpcError(-32615, `eth_getLogs is limited to a ${blocks} range, upgrade from discover plan`, { status: 413 }),
    ),
  },
  Ankr: {
    blocks: blockLimit(130, () => rpcError(-32600, "block range is too wide")),
    rate: { oneIn: 30, error: rpcError(-32090, "Too many requests") },
  },
  Chainstack: {
    blocks: blockLimit(100, () =>
      rpcError(-32602, "Block range limit exceeded. See more details in the documentation."),
    ),
    rate: { oneIn: 50, error: rpcError(-32005, "Too Many Requests") },
  },
  "dRPC, free": {
    blocks: blockLimit(200, (blocks) => rpcError(35, `ranges over ${blocks} blocks are not supported on freetier`)),
    batches: {
      callsMax: 3,
      error: rpcError(31, "Batch of more than 3 requests are not allowed on free plan"),
    },
    gatewayTimeout: { blocks: 150, status: 504 },
    nodeLags: [0, 0, 4],
  },
  Cloudflare: {
    blocks: blockLimit(80, (blocks) =>
      rpcError(-32047, `Invalid eth_getLogs request. 'fromBlock'-'toBlock' range too large. Max range: ${blocks}`),
    ),
    batches: { isReordered: true },
  },
  PublicNode: {
    blocks: blockLimit(150, (blocks) => rpcError(-32701, `exceed maximum block range: ${blocks}`)),
    results: { max: 300, buildError: () => rpcError(-32701, "logs count exceeds the limit 300") },
    nodeLags: [0, 1, 2, 3],
  },
  "1RPC": {
    bytes: {
      max: 150_000,
      buildError: () => rpcError(-32000, "response size should not greater than 150000 bytes"),
    },
    delayMs: 1,
  },
  Tenderly: {
    blocks: {
      max: 70,
      buildError: ({ from, to }) =>
        rpcError(-32602, "invalid params", {
          data: { payload: `range ${to - from + 1} is bigger than range limit 70` },
        }),
    },
  },
  "a gateway with a short time-out": { gatewayTimeout: { blocks: 60, status: 524 } },
  "a proxy that truncates long answers": { truncatesAbove: { bytes: 120_000 } },
  "a proxy that truncates some answers": { truncates: { oneIn: 11 } },
  "a provider that refuses logs in batches": {
    batches: { logsError: rpcError(-32600, "eth_getLogs is not allowed in a batch") },
  },
};
