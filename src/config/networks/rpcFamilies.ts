// Limits that families of RPC providers publish. The service learns a node's limits from its answers; where a family is
// known it begins within them.

export type RpcFamily = {
  name: string;
  /** Ends of the host names. */
  hosts: readonly string[];
  /** Blocks in one request for logs: of free plans and of paid ones; undefined where none is published. */
  logBlocks: { free?: number; paid?: number };
  /** Calls in one batch. */
  batchCalls?: number;
  /** What else an operator should know, as one sentence. */
  note?: string;
  source: string;
};

export const RPC_FAMILIES: readonly RpcFamily[] = [
  {
    name: "Alchemy",
    hosts: ["alchemy.com"],
    logBlocks: { free: 10, paid: 10_000 },
    note: "No limit of blocks on paid plans for Ethereum, Base, Optimism, Arbitrum, Polygon, World Chain, BNB, HyperEVM, Monad and Sei; an answer has at most 150 MB.",
    source: "https://www.alchemy.com/docs/chains/boba/boba-api-endpoints/eth-get-logs",
  },
  {
    name: "QuickNode",
    hosts: ["quiknode.pro"],
    logBlocks: { free: 5, paid: 10_000 },
    note: "2,000 blocks on paid plans for Sei.",
    source: "https://www.quicknode.com/docs/polygon/eth_getLogs",
  },
  {
    name: "Infura",
    hosts: ["infura.io"],
    logBlocks: {},
    note: "An answer has at most 10,000 logs; a plan has credits a second and a day.",
    source: "https://docs.metamask.io/services/how-to/avoid-rate-limiting.md",
  },
  {
    name: "Ankr",
    hosts: ["ankr.com"],
    logBlocks: {},
    note: "An answer has at most 200,000 logs on every plan.",
    source: "https://www.ankr.com/docs/changelog/eth-getlogs-result-limit-2026-10-07/",
  },
  {
    name: "Avalanche's public node",
    hosts: ["api.avax.network", "api.avax-test.network"],
    logBlocks: {},
    batchCalls: 40,
    source: "https://docs.chainstack.com/docs/avalanche-helicon-upgrade",
  },
  {
    name: "Base's public nodes",
    hosts: ["mainnet.base.org", "sepolia.base.org"],
    logBlocks: {},
    note: "They refuse the receipts of a block with HTTP 403; single ones are read.",
    source: "https://docs.base.org",
  },
];

/** The family of a host name; undefined for an unknown one. */
export function findRpcFamily(host: string): RpcFamily | undefined {
  return RPC_FAMILIES.find(({ hosts }) => hosts.some((end) => host === end || host.endsWith(`.${end}`)));
}
