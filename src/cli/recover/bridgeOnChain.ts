import type { CctpV2Chain } from "@tributary/inbox/cctpV2Chains";
import type { RoutesReason } from "@tributary/inbox/verifyRoutes";
import { defaultAttestationUrl, openAttestationService, readBridgeFees } from "@tributary/recover/bridge/attestation";
import { buildBridgeCall } from "@tributary/recover/bridge/bridgeCalls";
import { findBridgeChain, planBridge, type BridgeSpeed, type ProvenRoute } from "@tributary/recover/bridge/planBridge";
import { findRevertReason } from "@tributary/recover/bridge/revertReason";
import { formatUnits } from "@tributary/recover/format";
import type { ChainInspection, Holding } from "@tributary/recover/inspectChain";
import { readBalance } from "@tributary/recover/readBalances";
import { CommandError } from "../../operator/errors.ts";
import { deployMissingAdapter } from "./deployMissing.ts";
import { formatChain, type RecoverContext, type RecoverTransaction } from "./recoverTransaction.ts";

// Bridges what arrived on another chain to the settle chain, over a route that the inbox commits to.

export type BridgeOptions = {
  /** Absent: nothing is bridged. */
  speed: BridgeSpeed | undefined;
  /** Chains that this release does not know. */
  bridges: readonly CctpV2Chain[];
  /** Absent: Circle's own service. */
  attestationUrl: string | undefined;
};

export type BridgeChoice = { holding: Holding } & ({ route: ProvenRoute } | { refusal: string });

const REFUSALS: Partial<Record<RoutesReason, string>> = {
  wrong_chain: "This release does not know Circle's contracts on this chain; name them in --bridges",
  wrong_domain: "This release does not know Circle's contracts on the payout's chain; name them in --bridges",
  fee_too_high: "Its route lets Circle take more than one percent",
  wrong_recipient: "The input lacks the terms of its inbox on Solana; take the whole intent as the API returns it",
};
const PPM_PER_PERCENT = 10_000;

/** Chooses the route of each holding that has one, or says why none can be taken. */
export function chooseRoutes(
  holdings: readonly Holding[],
  { chainId }: ChainInspection,
  { speed, bridges }: BridgeOptions,
): BridgeChoice[] {
  if (speed === undefined) return [];
  return holdings.flatMap((holding): BridgeChoice[] => {
    const plan = planBridge(holding.inbox, { chainId, token: holding.token }, bridges);
    if (plan.kind === "none") return [];
    const refuse = (refusal: string) => [{ holding, refusal }];
    if (plan.kind === "unlisted") return refuse("The input shows only the root of its routes; add an intent with them");
    if (plan.kind === "refused")
      return refuse(REFUSALS[plan.reason] ?? `Its route may lead elsewhere (${plan.reason})`);
    const route = plan.routes.find((each) => each.speed === speed);
    if (route === undefined) return refuse(`It has no ${speed} route from this chain`);
    if (holding.units < route.route.minAmount)
      return refuse(`The route takes at least ${formatUnits(route.route.minAmount, holding.decimals)}`);
    return [{ holding, route }];
  });
}

/** Bridges one holding. Throws CommandError when Circle's fee exceeds what the route allows, or the chain refuses. */
export async function bridge(
  { holding, route }: { holding: Holding; route: ProvenRoute },
  { inspection, options }: { inspection: ChainInspection; options: BridgeOptions },
  context: RecoverContext,
): Promise<RecoverTransaction[]> {
  const { request, wallet, note } = context;
  const { inbox, token, units, symbol, decimals } = holding;
  const { chainId } = inspection;
  await rejectFastFee({ holding, route }, options, context);
  const transactions = await deployMissingAdapter(inspection, context);
  const call = buildBridgeCall(inbox, route);
  await request("eth_call", [{ from: wallet.address, ...call }, "latest"]).catch((error: unknown) => {
    const reason = findRevertReason(error);
    if (reason === undefined) throw error;
    const isFee = /max fee/i.test(reason);
    throw new CommandError(
      isFee
        ? `Circle's minimum fee is above the ${formatPercent(route.feePpmMax)} of the ${route.speed} route, so nothing was bridged. ${route.speed === "fast" ? "Wait until it is lower." : "Try --fast, which allows more."}`
        : `The chain refuses to bridge ${symbol} from ${inbox.address}: ${reason}.`,
    );
  });
  note(
    `Bridging ${formatUnits(units, decimals)} ${symbol} from ${inbox.address} to ${formatChain(inbox.terms.settleChainId)}. Circle takes at most ${formatPercent(route.feePpmMax)}.`,
  );
  const txHash = await wallet.send(call, (hash) => note(`  sent ${hash}`));
  const left = await readBalance(request, token, inbox.address);
  if (left >= route.route.minAmount) note(`  ${formatUnits(left, decimals)} ${symbol} are left: run this again.`);
  const moved = [{ inboxAddress: inbox.address, token, units: left < units ? units - left : 0n, to: inbox.address }];
  return [...transactions, { what: "bridge", chainId: String(chainId), txHash, moved }];
}

/** A fast route whose cap is below Circle's fee waits for finality, so it would only cost more. */
async function rejectFastFee(
  { holding, route }: { holding: Holding; route: ProvenRoute },
  { bridges, attestationUrl }: BridgeOptions,
  { note }: RecoverContext,
): Promise<void> {
  if (route.speed !== "fast") return;
  const { settleChainId } = holding.inbox.terms;
  const [origin, settle] = [route.route.chainId, settleChainId].map((id) => findBridgeChain(id, bridges));
  if (origin === undefined || settle === undefined) return;
  const service = openAttestationService(attestationUrl ?? defaultAttestationUrl(settleChainId));
  const { fast } = await readBridgeFees(service, { domain: origin.domain, settleDomain: settle.domain }).catch(
    (error: unknown) => {
      note(`Circle's present fee is unknown: ${error instanceof Error ? error.message : String(error)}`);
      return { fast: undefined };
    },
  );
  if (fast !== undefined && fast > route.feePpmMax)
    throw new CommandError(
      `Circle's fast fee is now ${formatPercent(fast)}, above the ${formatPercent(route.feePpmMax)} of the route, so nothing was bridged. Leave out --fast.`,
    );
}

function formatPercent(ppm: number): string {
  return `${String(ppm / PPM_PER_PERCENT)} %`;
}
