import type { FastifyInstance, FastifyReply } from "fastify";
import type { LocalChain } from "../chains/localChains.ts";
import type { DevSolana } from "../devSolana.ts";
import type { ChainExplorer } from "./chainExplorer.ts";
import { openEvmExplorer } from "./evmExplorer.ts";
import { renderExplorerPage } from "./explorerPages.ts";
import { openSolanaExplorer } from "./solanaExplorer.ts";

// The block explorer of the dev world. It reads the local chains and stores nothing.

type Params = { chainId: string; hash: string; address: string };

/** Adds the explorer's routes to a server before it listens. */
export function addExplorer(server: FastifyInstance, chains: readonly LocalChain[], solana: DevSolana): void {
  const explorers = new Map<string, ChainExplorer>([
    ...chains.map((chain): [string, ChainExplorer] => [String(chain.chainId), openEvmExplorer(chain)]),
    [String(solana.chain.chainId), openSolanaExplorer(solana)],
  ]);
  server.addHook("onClose", async () => {
    await Promise.all([...explorers.values()].map((explorer) => explorer.close()));
  });
  const addPage = (path: string, render: (explorer: ChainExplorer, params: Params) => Promise<string | undefined>) =>
    server.get<{ Params: Params }>(`/dev/explorer/:chainId${path}`, async ({ params }, reply) => {
      const explorer = explorers.get(params.chainId);
      return sendPage(reply, explorer && (await render(explorer, params)));
    });
  addPage("", (explorer) => explorer.chainPage());
  addPage("/tx/:hash", (explorer, { hash }) => explorer.transactionPage(hash));
  addPage("/address/:address", (explorer, { address }) => explorer.addressPage(address));
}

function sendPage(reply: FastifyReply, html: string | undefined): FastifyReply {
  return reply
    .code(html === undefined ? 404 : 200)
    .header("content-type", "text/html; charset=utf-8")
    .header("content-security-policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
    .send(html ?? renderExplorerPage("Not on this chain", { chainName: "Explorer", root: "/dev/explorer/" }, ""));
}
