/**
 * Writes the catalogue of public networks and what comes from it: node scripts/networks/writeNetworks.ts. A test
 * compares each file with its content here.
 */
import { writeFileSync } from "node:fs";
import { buildNetworks } from "./buildNetworks.ts";
import { renderPages } from "./renderPages.ts";
import { renderCatalogue, renderCctpChains, renderTestnets } from "./render.ts";

/** The content of each file, by its path in the repository. */
export function renderFiles(): Map<string, string> {
  const networks = buildNetworks();
  return new Map([
    ["src/config/networks/networks.generated.json", renderCatalogue(networks)],
    ["packages/inbox/src/networks/cctpV2Chains.generated.ts", renderCctpChains(networks)],
    ["config/testnets.json", renderTestnets(networks)],
    ...renderPages(networks),
  ]);
}

if (import.meta.main)
  for (const [path, content] of renderFiles()) writeFileSync(new URL(`../../${path}`, import.meta.url), content);
