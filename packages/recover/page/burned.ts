import type { CctpV2Chain } from "@tributary/inbox/cctpV2Chains";
import { matchBurns, type TrackedBurn } from "../src/bridge/matchBurns.ts";
import type { Arrivals } from "../src/bridge/searchArrivals.ts";
import type { FoundBurn } from "../src/bridge/searchBurns.ts";
import { findPaidInbox, readArrivals } from "../src/bridge/trackBurns.ts";
import { formatUnits } from "../src/format.ts";
import type { RpcRequester } from "../src/rpc/rpcRequester.ts";
import type { VerifiedInbox } from "../src/parseInboxes.ts";
import { byId, createElement } from "./dom.ts";

// Lists what was burned on any chain that this page has seen, and is not known to have arrived. A wallet shows one
// chain at a time, so the list grows while the person changes the network.

const USDC_DECIMALS = 6;

export type BurnedList = {
  /** Replaces the burns of one chain. */
  show(chain: string, burns: readonly FoundBurn[]): void;
  /** Reads what arrived on the chain of the wallet. */
  compare(request: RpcRequester, options: { chainId: bigint; fromBlock: bigint }): Promise<void>;
  clear(): void;
};

export type BurnedPage = {
  inboxes(): readonly VerifiedInbox[];
  bridges(): CctpV2Chain[];
  /** Fetches the message of a transaction. */
  fetch(txHash: string): void;
};

export function setUpBurned(page: BurnedPage): BurnedList {
  const found = new Map<string, readonly FoundBurn[]>();
  const arrived = new Map<bigint, Arrivals>();
  const settleChainOf = (burn: FoundBurn) => findPaidInbox(burn, page.inboxes())?.terms.settleChainId;
  const listBurns = (chainId: bigint | undefined) =>
    [...found.values()].flat().filter((burn) => settleChainOf(burn) === chainId);
  const render = () => {
    const chains = new Set([...found.values()].flat().map(settleChainOf));
    const rows = [...chains].flatMap((chainId) => {
      const arrivals = chainId === undefined ? undefined : arrived.get(chainId);
      const waiting = matchBurns(listBurns(chainId), arrivals).filter(({ state }) => state !== "received");
      return waiting.map((burn) => renderBurn(burn, chainId, page));
    });
    byId("burned").replaceChildren(...rows);
    byId("burned-title").hidden = rows.length === 0;
  };
  return {
    show(chain, burns) {
      found.set(chain, burns);
      render();
    },
    async compare(request, { chainId, fromBlock }) {
      const burns = listBurns(chainId);
      const options = { chainId, fromBlock, bridges: page.bridges() };
      const arrivals = await readArrivals(request, { burns, inboxes: page.inboxes() }, options);
      if (arrivals !== undefined) arrived.set(chainId, arrivals);
      render();
    },
    clear() {
      found.clear();
      arrived.clear();
      render();
    },
  };
}

function renderBurn(burn: TrackedBurn, chainId: bigint | undefined, page: BurnedPage): HTMLElement {
  const { units, chain, txHash, state, recipient } = burn;
  const inbox = findPaidInbox(burn, page.inboxes());
  const row = createElement("li");
  row.append(createElement("strong", `${formatUnits(units, USDC_DECIMALS)} USDC`));
  const where = /^\d+$/.test(chain) ? `chain ${chain}` : chain;
  row.append(createElement("small", `burned on ${where} by ${txHash}, for ${inbox?.address ?? recipient}`));
  const elsewhere = `Switch to chain ${chainId} to see whether it arrived.`;
  const unknown = chainId === undefined ? "It is paid out on Solana. Receive it there, if nobody has." : elsewhere;
  const note = state === "open" ? `Not received on chain ${chainId}.` : unknown;
  row.append(createElement("small", note));
  const button = createElement("button", "Fetch it from Circle");
  button.addEventListener("click", () => page.fetch(txHash));
  row.append(button);
  return row;
}
