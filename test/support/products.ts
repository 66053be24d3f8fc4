import type { Habits, Refusal, TooMuch } from "./fakeProvider.ts";

// The habits of the products that chains are read through, in their own words. Their limits are made small, so that a chain of a test meets
// them; how they are told is as it is.

const hexRange = ({ from, fits }: TooMuch) => `[0x${from.toString(16)}, 0x${fits.toString(16)}]`;

function refusal(code: number, message: string, more: Omit<Refusal, "code" | "message"> = {}): Refusal {
  return { code, message, ...more };
}

/** A refusal in words that name the most blocks. */
function most(blocks: number, refuse: (blocks: number) => Refusal): NonNullable<Habits["blocks"]> {
  return { most: blocks, refuse: () => refuse(blocks) };
}

export const PRODUCTS: Readonly<Record<string, Habits>> = {
  "geth with a limit on ranges": {
    blocks: most(120, (blocks) => refusal(-32000, `exceed maximum block range: ${blocks}`)),
    beyondHead: refusal(-32602, "invalid block range params"),
    nodes: [0, 2],
  },
  Erigon: {
    blocks: most(300, (blocks) =>
      refusal(-32602, `query block range exceeds server limit, narrow your filter: ${blocks}`),
    ),
    results: { most: 400, refuse: () => refusal(-32000, "query returns too many logs, narrow your filter: 400") },
    beyondHead: refusal(-32602, "block range extends beyond current head block"),
    nodes: [0, 1, 5],
  },
  Nethermind: {
    results: { most: 300, refuse: () => refusal(-32005, "Too many logs requested. Max logs per response is 300.") },
    beyondHead: refusal(-32001, "8633830 could not be found"),
    nodes: [0, 3],
  },
  Besu: {
    blocks: most(90, () => refusal(-32005, "Requested range exceeds maximum RPC range limit")),
    beyondHead: refusal(-32602, "Invalid block number params"),
    batches: { calls: 4, refuse: refusal(-32005, "Number of requests exceeds max batch size") },
  },
  Reth: {
    results: {
      most: 250,
      refuse: ({ from, fits }) =>
        refusal(-32602, `query exceeds max results 250, retry with the range ${from}-${fits}`),
    },
    batches: { calls: 0, refuse: refusal(-32005, "Batched requests are not supported by this server") },
  },
  "a Reth that suggests what it has just refused": {
    results: {
      most: 250,
      refuse: ({ from, to }) => refusal(-32602, `query exceeds max results 250, retry with the range ${from}-${to}`),
    },
  },
  Alchemy: {
    results: {
      most: 300,
      refuse: (asked) =>
        refusal(
          -32602,
          `Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range and no limit on the response size, or you can request any block range with a cap of 10K logs in the response. Based on your parameters and the response size limit, this block range should work: ${hexRange(asked)}`,
          { status: 400 },
        ),
    },
    rate: {
      of: 25,
      refuse: refusal(429, "Your app has exceeded its compute units per second capacity."),
      retryAfterS: 1,
    },
  },
  "Alchemy, free": {
    blocks: {
      most: 10,
      refuse: (asked) =>
        refusal(
          -32600,
          `Under the Free tier plan, you can make eth_getLogs requests with up to a 10 block range. Based on your parameters, this block range should work: ${hexRange(asked)}. Upgrade to PAYG for expanded block range.`,
          { status: 400 },
        ),
    },
  },
  Infura: {
    results: {
      most: 300,
      refuse: ({ from, fits }) =>
        refusal(
          -32005,
          `query returned more than 300 results. Try with this block range [0x${from.toString(16)}, 0x${fits.toString(16)}].`,
          { data: { from: `0x${from.toString(16)}`, limit: 300, to: `0x${fits.toString(16)}` } },
        ),
    },
    rate: {
      of: 40,
      refuse: refusal(-32005, "project ID request rate exceeded", { data: { rate: { backoff_seconds: 3 } } }),
    },
    nodes: [0, 1],
  },
  "QuickNode, free": {
    blocks: most(5, (blocks) =>
      refusal(-32615, `eth_getLogs is limited to a ${blocks} range, upgrade from discover plan`, { status: 413 }),
    ),
  },
  Ankr: {
    blocks: most(130, () => refusal(-32600, "block range is too wide")),
    rate: { of: 30, refuse: refusal(-32090, "Too many requests") },
  },
  Chainstack: {
    blocks: most(100, () => refusal(-32602, "Block range limit exceeded. See more details in the documentation.")),
    rate: { of: 50, refuse: refusal(-32005, "Too Many Requests") },
  },
  "dRPC, free": {
    blocks: most(200, (blocks) => refusal(35, `ranges over ${blocks} blocks are not supported on freetier`)),
    batches: {
      calls: 3,
      refuse: refusal(31, "Batch of more than 3 requests are not allowed on free plan"),
    },
    givesUp: { blocks: 150, status: 504 },
    nodes: [0, 0, 4],
  },
  Cloudflare: {
    blocks: most(80, (blocks) =>
      refusal(-32047, `Invalid eth_getLogs request. 'fromBlock'-'toBlock' range too large. Max range: ${blocks}`),
    ),
    batches: { isReordered: true },
  },
  PublicNode: {
    blocks: most(150, (blocks) => refusal(-32701, `exceed maximum block range: ${blocks}`)),
    results: { most: 300, refuse: () => refusal(-32701, "logs count exceeds the limit 300") },
    nodes: [0, 1, 2, 3],
  },
  "1RPC": {
    bytes: {
      most: 150_000,
      refuse: () => refusal(-32000, "response size should not greater than 150000 bytes"),
    },
    slowMs: 1,
  },
  Tenderly: {
    blocks: {
      most: 70,
      refuse: ({ from, to }) =>
        refusal(-32602, "invalid params", {
          data: { payload: `range ${to - from + 1} is bigger than range limit 70` },
        }),
    },
  },
  "a gateway that gives up on what takes long": { givesUp: { blocks: 60, status: 524 } },
  "a proxy that cuts long answers": { cutsAbove: { bytes: 120_000 } },
  "a proxy that cuts now and then": { cuts: { of: 11 } },
  "a provider that keeps logs out of batches": {
    batches: { withoutLogs: refusal(-32600, "eth_getLogs is not allowed in a batch") },
  },
};
