import type { Hex } from "@tributary/inbox/terms";
import { deployHubCall, rescueCall, SETTLE_MAX, settleCall } from "@tributary/recover/calls";
import { balanceOf, type Ask, type Holding, type Sight } from "@tributary/recover/look";
import { lastResort, NATIVE, wayOut } from "@tributary/recover/plan";
import { displayUnits } from "@tributary/recover/units";
import { CommandFailed } from "../command.ts";
import type { Wallet } from "./wallet.ts";

/** What was sent, and what it moved: read from the balances afterwards, not assumed. */
export type Act = {
  what: "deploy" | "settle" | "rescue";
  chainId: string;
  txHash: Hex;
  moved: { inboxAddress: Hex; token: Hex; units: bigint; to: Hex }[];
};

export type Wish = {
  settle: boolean;
  rescue: boolean;
  /** Only these; all when empty. */
  tokens: readonly Hex[];
  /** Where rescued money goes; the payout wallet when undefined, or the sender where the terms have none on this kind of chain. */
  to: Hex | undefined;
};

type Hands = { ask: Ask; wallet: Wallet; note: (line: string) => void };

/** Does on one chain what was wished for and is possible there. Running it again moves nothing twice. */
export async function recoverOn(sight: Sight, wish: Wish, hands: Hands): Promise<Act[]> {
  const chosen = sight.holdings.filter(({ token }) => wish.tokens.length === 0 || wish.tokens.includes(token));
  const settled = wish.settle ? chosen.filter((holding) => wayOf(holding, sight).kind === "settle") : [];
  const rescued = wish.rescue ? chosen.filter((holding) => mayRescue(holding, sight, hands.wallet.address)) : [];
  if (settled.length + rescued.length === 0) return [];
  const acts = await provideHub(sight, hands);
  for (let start = 0; start < settled.length; start += SETTLE_MAX)
    acts.push(await settle(settled.slice(start, start + SETTLE_MAX), sight, hands));
  for (const holding of rescued) {
    // What settling has moved is no longer there to be rescued.
    if (acts.some(({ moved }) => moved.some((one) => isSame(one, holding)))) continue;
    acts.push(await rescue(holding, { sight, wish, hands }));
  }
  return acts;
}

function isSame(moved: Act["moved"][number], { inbox, token }: Holding): boolean {
  return moved.inboxAddress === inbox.address && moved.token === token;
}

function wayOf({ inbox, token }: Holding, { chainId, timestamp }: Sight) {
  return wayOut(inbox.terms, { chainId, timestamp, token });
}

function mayRescue(holding: Holding, sight: Sight, sender: Hex): boolean {
  const way = wayOf(holding, sight);
  const last = way.kind === "settle" ? lastResort(holding.inbox.terms, sight.timestamp) : way;
  return last.kind === "rescue" && last.isDue && last.by === sender;
}

async function provideHub(sight: Sight, { wallet, note }: Hands): Promise<Act[]> {
  if (sight.hub === "present") return [];
  if (sight.hub === "foreign" || !sight.isDeployable)
    throw new CommandFailed(
      `Chain ${sight.chainId} cannot have the hub at its address, so nothing can be moved out of an inbox there.`,
    );
  note(`The hub is not on chain ${sight.chainId} yet: it is put there first, once for everybody.`);
  const txHash = await wallet.send(deployHubCall(), (hash) => note(`  sent ${hash}`));
  return [{ what: "deploy", chainId: String(sight.chainId), txHash, moved: [] }];
}

async function settle(holdings: readonly Holding[], sight: Sight, { ask, wallet, note }: Hands): Promise<Act> {
  note(`Settling ${holdings.length} ${holdings.length === 1 ? "inbox" : "inboxes"} on chain ${sight.chainId}.`);
  const call = settleCall(holdings.map(({ inbox }) => inbox.terms));
  const txHash = await wallet.send(call, (hash) => note(`  sent ${hash}`));
  const moved: Act["moved"] = [];
  for (const holding of holdings) {
    const units = await movedOf(ask, holding);
    const { address, terms } = holding.inbox;
    if (units === 0n)
      note(`  ${address} did not settle: its token refuses the transfer to ${terms.payout}. --rescue is left.`);
    else moved.push({ inboxAddress: address, token: holding.token, units, to: terms.payout });
  }
  return { what: "settle", chainId: String(sight.chainId), txHash, moved };
}

async function rescue(
  holding: Holding,
  { sight, wish, hands }: { sight: Sight; wish: Wish; hands: Hands },
): Promise<Act> {
  const { ask, wallet, note } = hands;
  const { inbox, token, units, symbol, decimals } = holding;
  const to = wish.to ?? (inbox.terms.payout === NATIVE ? wallet.address : inbox.terms.payout);
  note(`Rescuing ${displayUnits(units, decimals)} ${symbol} from ${inbox.address} to ${to}.`);
  const txHash = await wallet.send(rescueCall(inbox.terms, token, to), (hash) => note(`  sent ${hash}`));
  const gone = await movedOf(ask, holding);
  const moved = [{ inboxAddress: inbox.address, token, units: gone, to }];
  return { what: "rescue", chainId: String(sight.chainId), txHash, moved };
}

async function movedOf(ask: Ask, { inbox, token, units }: Holding): Promise<bigint> {
  const left = await balanceOf(ask, token, inbox.address);
  return left < units ? units - left : 0n;
}
