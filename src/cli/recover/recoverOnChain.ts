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

/** One sent transaction. `moved` is the measured change of the inbox balances. */
export type RecoverTransaction = {
  what: "deploy" | "settle" | "rescue";
  chainId: string;
  txHash: Hex;
  moved: { inboxAddress: Hex; token: Hex; units: bigint; to: Hex }[];
};

export type RecoverOptions = {
  settle: boolean;
  rescue: boolean;
  /** Only these tokens; empty means all. */
  tokens: readonly Hex[];
  /** Target of a rescue. Default the payout wallet, or the sender when the terms have no EVM payout wallet. */
  to: Hex | undefined;
};

type RecoverContext = { request: RpcRequester; wallet: Wallet; note: (line: string) => void };

/** Settles and rescues on one chain what the options and the terms allow. A repeated run moves nothing twice. */
export async function recoverOnChain(
  inspection: ChainInspection,
  options: RecoverOptions,
  context: RecoverContext,
): Promise<RecoverTransaction[]> {
  const selected = inspection.holdings.filter(
    ({ token }) => options.tokens.length === 0 || options.tokens.includes(token),
  );
  const toSettle = options.settle
    ? selected.filter((holding) => planWithdrawal(holding, inspection).kind === "settle")
    : [];
  const toRescue = options.rescue
    ? selected.filter((holding) => canRescue(holding, inspection, context.wallet.address))
    : [];
  if (toSettle.length + toRescue.length === 0) return [];
  const transactions = await ensureHub(inspection, context);
  for (let start = 0; start < toSettle.length; start += SETTLE_BATCH_MAX)
    transactions.push(await settle(toSettle.slice(start, start + SETTLE_BATCH_MAX), inspection, context));
  for (const holding of toRescue) {
    const isSettled = transactions.some(({ moved }) => moved.some((movement) => isSameHolding(movement, holding)));
    if (!isSettled) transactions.push(await rescue(holding, { inspection, options, context }));
  }
  return transactions;
}

function isSameHolding(moved: RecoverTransaction["moved"][number], { inbox, token }: Holding): boolean {
  return moved.inboxAddress === inbox.address && moved.token === token;
}

function planWithdrawal({ inbox, token }: Holding, { chainId, timestamp }: ChainInspection) {
  return planRecovery(inbox.terms, { chainId, timestamp, token });
}

function canRescue(holding: Holding, inspection: ChainInspection, sender: Hex): boolean {
  const plan = planWithdrawal(holding, inspection);
  const rescuePlan = plan.kind === "settle" ? planSettleTokenRescue(holding.inbox.terms, inspection.timestamp) : plan;
  return rescuePlan.kind === "rescue" && rescuePlan.isAllowed && rescuePlan.sender === sender;
}

async function ensureHub(inspection: ChainInspection, { wallet, note }: RecoverContext): Promise<RecoverTransaction[]> {
  const { hub, canDeployHub, chainId } = inspection;
  if (hub === "present") return [];
  if (hub === "foreign" || !canDeployHub)
    throw new CommandError(`The hub cannot be deployed on chain ${chainId}, so its inboxes cannot be opened.`);
  note(`Deploying the hub on chain ${chainId}. This is needed once for all inboxes.`);
  const txHash = await wallet.send(buildDeployHubCall(), (hash) => note(`  sent ${hash}`));
  return [{ what: "deploy", chainId: String(chainId), txHash, moved: [] }];
}

async function settle(
  holdings: readonly Holding[],
  { chainId }: ChainInspection,
  { request, wallet, note }: RecoverContext,
): Promise<RecoverTransaction> {
  note(`Settling ${holdings.length} ${holdings.length === 1 ? "inbox" : "inboxes"} on chain ${chainId}.`);
  const call = buildSettleCall(holdings.map(({ inbox }) => inbox.terms));
  const txHash = await wallet.send(call, (hash) => note(`  sent ${hash}`));
  const moved: RecoverTransaction["moved"] = [];
  for (const holding of holdings) {
    const units = await readMovedUnits(request, holding);
    const { address, terms } = holding.inbox;
    if (units === 0n)
      note(`  ${address} did not settle: its token rejects the transfer to ${terms.payout}. Use --rescue.`);
    else moved.push({ inboxAddress: address, token: holding.token, units, to: terms.payout });
  }
  return { what: "settle", chainId: String(chainId), txHash, moved };
}

async function rescue(
  holding: Holding,
  { inspection, options, context }: { inspection: ChainInspection; options: RecoverOptions; context: RecoverContext },
): Promise<RecoverTransaction> {
  const { request, wallet, note } = context;
  const { inbox, token, units, symbol, decimals } = holding;
  const to = options.to ?? (inbox.terms.payout === NATIVE_TOKEN ? wallet.address : inbox.terms.payout);
  note(`Rescuing ${formatUnits(units, decimals)} ${symbol} from ${inbox.address} to ${to}.`);
  const txHash = await wallet.send(buildRescueCall(inbox.terms, token, to), (hash) => note(`  sent ${hash}`));
  const movedUnits = await readMovedUnits(request, holding);
  const moved = [{ inboxAddress: inbox.address, token, units: movedUnits, to }];
  return { what: "rescue", chainId: String(inspection.chainId), txHash, moved };
}

async function readMovedUnits(request: RpcRequester, { inbox, token, units }: Holding): Promise<bigint> {
  const remaining = await readBalance(request, token, inbox.address);
  return remaining < units ? units - remaining : 0n;
}
