import type { Hex } from "@tributary/inbox/terms";
import { batchSettlements, buildRescueCall, buildSettleCall } from "@tributary/recover/contractCalls";
import type { Holding, ChainInspection } from "@tributary/recover/inspectChain";
import type { RpcRequester } from "@tributary/recover/rpc/rpcRequester";
import { readBalance } from "@tributary/recover/readBalances";
import { defaultReceiver, NATIVE_TOKEN, planSettleTokenRescue, planRecovery } from "@tributary/recover/planRecovery";
import { formatDay, formatUnits } from "@tributary/recover/format";
import { bridge, chooseRoutes, type BridgeOptions } from "./bridgeOnChain.ts";
import { deployMissingHubs } from "./deployMissing.ts";
import type { RecoverContext, RecoverTransaction } from "./recoverTransaction.ts";
import { RefusedCall } from "./wallet.ts";

export type RecoverOptions = BridgeOptions & {
  settle: boolean;
  rescue: boolean;
  /** Only these tokens; empty means all. */
  tokens: readonly Hex[];
  /** Target of a rescue. Default the payout wallet on its own chain, and the sender on every other one. */
  to: Hex | undefined;
};

export type ChainTransactions = {
  transactions: RecoverTransaction[];
  /** Whether something that the options ask for did not move. */
  isRefused: boolean;
};

/**
 * Settles, bridges and rescues on one chain what the options and the terms allow. A repeated run moves nothing twice. A
 * token that refuses its rescue does not stop the others, because anyone can send such a token to an inbox.
 */
export async function recoverOnChain(
  inspection: ChainInspection,
  options: RecoverOptions,
  context: RecoverContext,
): Promise<ChainTransactions> {
  const selected = selectHoldings(inspection, options);
  const toSettle = options.settle
    ? selected.filter((holding) => planWithdrawal(holding, inspection).kind === "settle")
    : [];
  const toRescue = options.rescue
    ? selected.filter((holding) => canRescue(holding, inspection, context.wallet.address))
    : [];
  const toBridge = chooseRoutes(selected, inspection, options).filter((choice) => "route" in choice);
  const acted = [...toSettle, ...toRescue, ...toBridge.map(({ holding }) => holding)];
  if (acted.length === 0) return { transactions: [], isRefused: false };
  const inboxes = acted.map(({ inbox }) => inbox);
  const transactions = await deployMissingHubs(inboxes, inspection, context);
  let isRefused = false;
  for (const batch of batchSettlements(toSettle)) {
    const settled = await settle(batch, { inspection, willRescue: toRescue }, context).catch((error: unknown) => {
      if (!(error instanceof RefusedCall)) throw error;
      context.note(`Not settled: ${batch.map(({ inbox }) => inbox.address).join(", ")}. ${error.message}`);
      return undefined;
    });
    isRefused ||= settled?.isRefused ?? true;
    if (settled !== undefined) transactions.push(settled.transaction);
  }
  for (const choice of toBridge) transactions.push(...(await bridge(choice, { inspection, options }, context)));
  for (const holding of toRescue) {
    const isSettled = transactions.some(({ moved }) => moved.some((movement) => isSameHolding(movement, holding)));
    if (isSettled) continue;
    const rescued = await rescue(holding, { inspection, options, context }).catch((error: unknown) => {
      if (!(error instanceof RefusedCall)) throw error;
      context.note(`Not rescued: ${holding.symbol} in ${holding.inbox.address}. ${error.message}`);
      return undefined;
    });
    isRefused ||= rescued === undefined || rescued.moved.every(({ units }) => units === 0n);
    if (rescued !== undefined) transactions.push(rescued);
  }
  return { transactions, isRefused };
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

/** Says why selected holdings are not bridged. Returns whether any is not. */
export function reportRefusedBridges(
  inspection: ChainInspection,
  options: RecoverOptions,
  { note }: Pick<RecoverContext, "note">,
): boolean {
  const selected = selectHoldings(inspection, options);
  if (options.speed === undefined || selected.length === 0) return false;
  const choices = chooseRoutes(selected, inspection, options);
  const refused = choices.filter((choice) => "refusal" in choice);
  for (const { holding, refusal } of refused)
    note(`Not bridged: ${holding.symbol} in ${holding.inbox.address}. ${refusal}.`);
  if (choices.length > 0) return refused.length > 0;
  const isPaidHere = selected.every(({ inbox }) => inbox.terms.settleChainId === inspection.chainId);
  const remedy = isPaidHere
    ? "They are paid out here: use --settle."
    : "No route of theirs begins with these tokens here.";
  note(`Not bridged: the holdings on chain ${inspection.chainId}. ${remedy}`);
  return !options.settle || !isPaidHere;
}

function selectHoldings({ holdings }: ChainInspection, { tokens }: RecoverOptions): Holding[] {
  return holdings.filter(({ token }) => tokens.length === 0 || tokens.includes(token));
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

/** Settles a batch. `isRefused`: an inbox kept its balance, and no rescue follows. */
async function settle(
  holdings: readonly Holding[],
  { inspection: { chainId }, willRescue }: { inspection: ChainInspection; willRescue: readonly Holding[] },
  { request, wallet, note }: RecoverContext,
): Promise<{ transaction: RecoverTransaction; isRefused: boolean }> {
  note(`Settling ${holdings.length} ${holdings.length === 1 ? "inbox" : "inboxes"} on chain ${chainId}.`);
  const call = buildSettleCall(
    holdings.map(({ inbox }) => inbox.terms),
    holdings[0]?.inbox.hub,
  );
  const txHash = await wallet.send(call, (hash) => note(`  sent ${hash}`));
  const moved: RecoverTransaction["moved"] = [];
  let isRefused = false;
  for (const holding of holdings) {
    const units = await readMovedUnits(request, holding);
    const { address, terms } = holding.inbox;
    if (units > 0n) moved.push({ inboxAddress: address, token: holding.token, units, to: terms.payout });
    else {
      const from =
        terms.recovery === NATIVE_TOKEN ? "never, without a recovery address" : formatDay(terms.recoverAfter);
      note(
        `  ${address} did not settle: its token rejects the transfer to ${terms.payout}. --rescue can take it: ${from}.`,
      );
      isRefused ||= !willRescue.includes(holding);
    }
  }
  return { transaction: { what: "settle", chainId: String(chainId), txHash, moved }, isRefused };
}

async function rescue(
  holding: Holding,
  { inspection, options, context }: { inspection: ChainInspection; options: RecoverOptions; context: RecoverContext },
): Promise<RecoverTransaction> {
  const { request, wallet, note } = context;
  const { inbox, token, units, symbol, decimals } = holding;
  const to = options.to ?? defaultReceiver(inbox.terms, { chainId: inspection.chainId, sender: wallet.address, token });
  note(`Rescuing ${formatUnits(units, decimals)} ${symbol} from ${inbox.address} to ${to}.`);
  const txHash = await wallet.send(buildRescueCall(inbox, token, to), (hash) => note(`  sent ${hash}`));
  const movedUnits = await readMovedUnits(request, holding);
  if (movedUnits === 0n) note(`  ${inbox.address} still holds it: nothing moved.`);
  const moved = [{ inboxAddress: inbox.address, token, units: movedUnits, to }];
  return { what: "rescue", chainId: String(inspection.chainId), txHash, moved };
}

async function readMovedUnits(request: RpcRequester, { inbox, token, units }: Holding): Promise<bigint> {
  const remaining = await readBalance(request, token, inbox.address);
  return remaining < units ? units - remaining : 0n;
}
