import type { Hex } from "@tributary/inbox/terms";
import {
  buildDeployHubCall,
  buildRescueCall,
  SETTLE_BATCH_MAX,
  buildSettleCall,
} from "@tributary/recover/contractCalls";
import { readBalance, type RpcRequester, type Holding, type ChainInspection } from "@tributary/recover/inspectChain";
import { planSettleTokenRescue, NATIVE_TOKEN, planRecovery } from "@tributary/recover/planRecovery";
import { formatUnits } from "@tributary/recover/format";
import { CommandError } from "../../operator/errors.ts";
import type { Wallet } from "./wallet.ts";

/** What was sent, and what it moved: read from the balances afterwards, not assumed. */
export type RecoverTransaction = {
  what: "deploy" | "settle" | "rescue";
  chainId: string;
  txHash: Hex;
  moved: { inboxAddress: Hex; token: Hex; units: bigint; to: Hex }[];
};

export type RecoverRequest = {
  settle: boolean;
  rescue: boolean;
  /** Only these; all when empty. */
  tokens: readonly Hex[];
  /** Where rescued money goes; the payout wallet when undefined, or the sender where the terms have none on this kind of chain. */
  to: Hex | undefined;
};

type RecoverContext = { ask: RpcRequester; wallet: Wallet; note: (line: string) => void };

/** Does on one chain what was wished for and is possible there. Running it again moves nothing twice. */
export async function recoverOnChain(
  sight: ChainInspection,
  request: RecoverRequest,
  context: RecoverContext,
): Promise<RecoverTransaction[]> {
  const chosen = sight.holdings.filter(({ token }) => request.tokens.length === 0 || request.tokens.includes(token));
  const settled = request.settle ? chosen.filter((holding) => planWithdrawal(holding, sight).kind === "settle") : [];
  const rescued = request.rescue ? chosen.filter((holding) => canRescue(holding, sight, context.wallet.address)) : [];
  if (settled.length + rescued.length === 0) return [];
  const acts = await ensureHub(sight, context);
  for (let start = 0; start < settled.length; start += SETTLE_BATCH_MAX)
    acts.push(await settle(settled.slice(start, start + SETTLE_BATCH_MAX), sight, context));
  for (const holding of rescued) {
    // What settling has moved is no longer there to be rescued.
    if (acts.some(({ moved }) => moved.some((one) => isSameHolding(one, holding)))) continue;
    acts.push(await rescue(holding, { sight, wish: request, hands: context }));
  }
  return acts;
}

function isSameHolding(moved: RecoverTransaction["moved"][number], { inbox, token }: Holding): boolean {
  return moved.inboxAddress === inbox.address && moved.token === token;
}

function planWithdrawal({ inbox, token }: Holding, { chainId, timestamp }: ChainInspection) {
  return planRecovery(inbox.terms, { chainId, timestamp, token });
}

function canRescue(holding: Holding, sight: ChainInspection, sender: Hex): boolean {
  const way = planWithdrawal(holding, sight);
  const last = way.kind === "settle" ? planSettleTokenRescue(holding.inbox.terms, sight.timestamp) : way;
  return last.kind === "rescue" && last.isAllowed && last.sender === sender;
}

async function ensureHub(sight: ChainInspection, { wallet, note }: RecoverContext): Promise<RecoverTransaction[]> {
  if (sight.hub === "present") return [];
  if (sight.hub === "foreign" || !sight.canDeployHub)
    throw new CommandError(
      `Chain ${sight.chainId} cannot have the hub at its address, so nothing can be moved out of an inbox there.`,
    );
  note(`The hub is not on chain ${sight.chainId} yet: it is put there first, once for everybody.`);
  const txHash = await wallet.send(buildDeployHubCall(), (hash) => note(`  sent ${hash}`));
  return [{ what: "deploy", chainId: String(sight.chainId), txHash, moved: [] }];
}

async function settle(
  holdings: readonly Holding[],
  sight: ChainInspection,
  { ask, wallet, note }: RecoverContext,
): Promise<RecoverTransaction> {
  note(`Settling ${holdings.length} ${holdings.length === 1 ? "inbox" : "inboxes"} on chain ${sight.chainId}.`);
  const call = buildSettleCall(holdings.map(({ inbox }) => inbox.terms));
  const txHash = await wallet.send(call, (hash) => note(`  sent ${hash}`));
  const moved: RecoverTransaction["moved"] = [];
  for (const holding of holdings) {
    const units = await readMovedUnits(ask, holding);
    const { address, terms } = holding.inbox;
    if (units === 0n)
      note(`  ${address} did not settle: its token refuses the transfer to ${terms.payout}. --rescue is left.`);
    else moved.push({ inboxAddress: address, token: holding.token, units, to: terms.payout });
  }
  return { what: "settle", chainId: String(sight.chainId), txHash, moved };
}

async function rescue(
  holding: Holding,
  { sight, wish, hands }: { sight: ChainInspection; wish: RecoverRequest; hands: RecoverContext },
): Promise<RecoverTransaction> {
  const { ask, wallet, note } = hands;
  const { inbox, token, units, symbol, decimals } = holding;
  const to = wish.to ?? (inbox.terms.payout === NATIVE_TOKEN ? wallet.address : inbox.terms.payout);
  note(`Rescuing ${formatUnits(units, decimals)} ${symbol} from ${inbox.address} to ${to}.`);
  const txHash = await wallet.send(buildRescueCall(inbox.terms, token, to), (hash) => note(`  sent ${hash}`));
  const gone = await readMovedUnits(ask, holding);
  const moved = [{ inboxAddress: inbox.address, token, units: gone, to }];
  return { what: "rescue", chainId: String(sight.chainId), txHash, moved };
}

async function readMovedUnits(ask: RpcRequester, { inbox, token, units }: Holding): Promise<bigint> {
  const left = await readBalance(ask, token, inbox.address);
  return left < units ? units - left : 0n;
}
