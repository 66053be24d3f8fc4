import type { Hex } from "@tributary/inbox/terms";
import {
  batchSettlements,
  buildDeployHubCall,
  buildRescueCall,
  buildSettleCall,
} from "@tributary/recover/contractCalls";
import { readBalance, type RpcRequester, type Holding, type ChainInspection } from "@tributary/recover/inspectChain";
import { defaultReceiver, planSettleTokenRescue, planRecovery } from "@tributary/recover/planRecovery";
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
  /** Target of a rescue. Default the payout wallet on its own chain, and the sender on every other one. */
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
  const transactions = await ensureHubs([...toSettle, ...toRescue], inspection, context);
  for (const batch of batchSettlements(toSettle)) transactions.push(await settle(batch, inspection, context));
  for (const holding of toRescue) {
    const isSettled = transactions.some(({ moved }) => moved.some((movement) => isSameHolding(movement, holding)));
    if (!isSettled) transactions.push(await rescue(holding, { inspection, options, context }));
  }
  return transactions;
}

/** Says when each selected inbox can be rescued, or why not. Returns whether any could not be. */
export function reportRefusedRescues(
  inspection: ChainInspection,
  options: RecoverOptions,
  { wallet, note }: Pick<RecoverContext, "wallet" | "note">,
): boolean {
  const refused = inspection.holdings.filter((holding) => {
    const isSelected = options.tokens.length === 0 || options.tokens.includes(holding.token);
    const isSettleable = planWithdrawal(holding, inspection).kind === "settle";
    return isSelected && holding.units > 0n && !isSettleable && !canRescue(holding, inspection, wallet.address);
  });
  for (const { inbox, symbol } of refused)
    note(`Not rescued: ${symbol} in ${inbox.address}. It is too early, or the key is not of the recovery address.`);
  return refused.length > 0;
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

async function ensureHubs(
  holdings: readonly Holding[],
  { hub, absentHubs, canDeployHub, chainId }: ChainInspection,
  { wallet, note }: RecoverContext,
): Promise<RecoverTransaction[]> {
  if (hub === "foreign" || (hub === "absent" && !canDeployHub))
    throw new CommandError(`The hub cannot be deployed on chain ${chainId}, so its inboxes cannot be opened.`);
  const transactions: RecoverTransaction[] = [];
  for (const absent of absentHubs) {
    if (!holdings.some(({ inbox }) => inbox.hub === absent)) continue;
    note(`Deploying the hub on chain ${chainId}. This is needed once for all inboxes.`);
    const txHash = await wallet.send(buildDeployHubCall(absent), (hash) => note(`  sent ${hash}`));
    transactions.push({ what: "deploy", chainId: String(chainId), txHash, moved: [] });
  }
  return transactions;
}

async function settle(
  holdings: readonly Holding[],
  { chainId }: ChainInspection,
  { request, wallet, note }: RecoverContext,
): Promise<RecoverTransaction> {
  note(`Settling ${holdings.length} ${holdings.length === 1 ? "inbox" : "inboxes"} on chain ${chainId}.`);
  const call = buildSettleCall(
    holdings.map(({ inbox }) => inbox.terms),
    holdings[0]?.inbox.hub,
  );
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
  const to = options.to ?? defaultReceiver(inbox.terms, { chainId: inspection.chainId, sender: wallet.address });
  note(`Rescuing ${formatUnits(units, decimals)} ${symbol} from ${inbox.address} to ${to}.`);
  const txHash = await wallet.send(buildRescueCall(inbox, token, to), (hash) => note(`  sent ${hash}`));
  const movedUnits = await readMovedUnits(request, holding);
  const moved = [{ inboxAddress: inbox.address, token, units: movedUnits, to }];
  return { what: "rescue", chainId: String(inspection.chainId), txHash, moved };
}

async function readMovedUnits(request: RpcRequester, { inbox, token, units }: Holding): Promise<bigint> {
  const remaining = await readBalance(request, token, inbox.address);
  return remaining < units ? units - remaining : 0n;
}
