import { cctpV2Chains, solanaCctpDomain, type CctpV2Chain } from "@tributary/inbox/cctpV2Chains";
import {
  defaultAttestationUrl,
  findBurns,
  openAttestationService,
  requestSignature,
  type AttestationRequester,
  type SignedBurn,
} from "@tributary/recover/bridge/attestation";
import { buildReceiveCall } from "@tributary/recover/bridge/bridgeCalls";
import { findRecipient, inspectMint, readSettledUnits } from "@tributary/recover/bridge/inspectMint";
import { findBridgeChain, findOrigins } from "@tributary/recover/bridge/planBridge";
import { buildSettleCall } from "@tributary/recover/contractCalls";
import type { ChainInspection } from "@tributary/recover/inspectChain";
import type { VerifiedInbox } from "@tributary/recover/parseInboxes";
import { withChainError } from "../../operator/client/withChainError.ts";
import { CommandError } from "../../operator/errors.ts";
import { deployMissingHubs } from "./deployMissing.ts";
import type { RecoverContext, RecoverTransaction } from "./recoverTransaction.ts";

// Receives on the settle chain what was burned on another one, and settles it.

export type ReceiveOptions = {
  /** The transactions of the burns. */
  burnTxs: readonly string[];
  /** A message with its attestation, given by hand. */
  signed: SignedBurn | undefined;
  bridges: readonly CctpV2Chain[];
  attestationUrl: string | undefined;
};

/** A burn that cannot be received yet. */
export type PendingBurn = { burn: string; state: "unseen" | "unsigned" | "expired"; reason: string };

const AGAIN = "Run the same command again.";

type Receipt = {
  inspection: ChainInspection;
  inboxes: readonly VerifiedInbox[];
  chain: CctpV2Chain;
  service: AttestationRequester;
  /** Message and attestation came from the command line. */
  isByHand: boolean;
  context: RecoverContext;
  transactions: RecoverTransaction[];
  pending: PendingBurn[];
};

/**
 * Receives and settles on one chain. A burn that Circle has not signed yet is `pending`. Undefined where none of the
 * inboxes is paid out.
 */
export async function receiveOnChain(
  inboxes: readonly VerifiedInbox[],
  options: ReceiveOptions,
  { inspection, context }: { inspection: ChainInspection; context: RecoverContext },
): Promise<Pick<Receipt, "transactions" | "pending"> | undefined> {
  const { chainId } = inspection;
  const { bridges, attestationUrl, burnTxs, signed } = options;
  const paidHere = inboxes.filter(({ terms }) => terms.settleChainId === chainId);
  if (paidHere.length === 0) return undefined;
  const chain = findBridgeChain(chainId, bridges);
  if (chain === undefined)
    throw new CommandError(
      `Circle's contracts on chain ${chainId} are unknown to this release: name them in --bridges.`,
    );
  const service = openAttestationService(attestationUrl ?? defaultAttestationUrl(chainId));
  const isByHand = signed !== undefined;
  const results = { transactions: [], pending: [] };
  const receipt: Receipt = { inspection, inboxes: paidHere, chain, service, isByHand, context, ...results };
  if (signed !== undefined) await receiveBurn(signed, receipt);
  for (const burnTx of burnTxs) await receiveTransaction(burnTx, receipt, bridges);
  return receipt;
}

async function receiveTransaction(burnTx: string, receipt: Receipt, bridges: readonly CctpV2Chain[]): Promise<void> {
  const { inboxes, chain, service, pending } = receipt;
  const isOnSolana = !burnTx.startsWith("0x");
  const listed = inboxes.flatMap((inbox) => findOrigins(inbox, bridges));
  const origins = listed.length > 0 ? listed : cctpV2Chains;
  const ofOrigins = new Set(origins.map(({ domain }) => domain).filter((domain) => domain !== chain.domain));
  const domains = isOnSolana ? [solanaCctpDomain] : [...ofOrigins];
  const state = await withChainError(
    findBurns(service, { chainTx: burnTx, domains }),
    "Nothing was received; --message and --attestation work without the service",
  );
  if (state.kind === "unseen")
    return void pending.push({
      burn: burnTx,
      state: "unseen",
      reason: `Circle has not seen a burn in it on any chain of these routes. It does a minute after the transaction. ${AGAIN}`,
    });
  if (state.kind === "unsigned")
    return void pending.push({
      burn: burnTx,
      state: "unsigned",
      reason: `Circle has not signed it${state.reason === undefined ? "" : ` (${state.reason})`}. A standard transfer is signed when its chain is final, often after 20 minutes. ${AGAIN}`,
    });
  const own = state.burns.filter((burn) => findRecipient(burn, inboxes) !== undefined);
  if (own.length === 0) throw new CommandError(`${burnTx} burned nothing for these inboxes.`);
  for (const signed of own) await receiveBurn(signed, receipt);
}

async function receiveBurn(signed: SignedBurn, receipt: Receipt): Promise<void> {
  const { inspection, inboxes, chain, context, service, transactions, pending } = receipt;
  const { request, wallet, note } = context;
  const inbox = findRecipient(signed, inboxes);
  if (inbox === undefined) throw new CommandError(`The message pays ${signed.burn.recipient}, none of these inboxes.`);
  if (signed.burn.settleDomain !== chain.domain)
    throw new CommandError(
      `The message is for Circle's domain ${signed.burn.settleDomain}, and chain ${inspection.chainId} is domain ${chain.domain}.`,
    );
  const state = await withChainError(
    inspectMint(request, inbox, { signed, transmitter: chain.transmitter, from: wallet.address }),
    "The chain does not answer",
  );
  if (state.kind === "refused") throw new CommandError(`Circle's contract refuses the message: ${state.reason}.`);
  if (state.kind === "expired") {
    await withChainError(
      requestSignature(service, signed.burn),
      "The attestation has expired, and no new one was asked for",
    );
    const remedy = receipt.isByHand ? "Give that one in --message and --attestation." : AGAIN;
    const reason = `The attestation has expired, and Circle was asked for a new one, which takes a minute. ${remedy}`;
    return void pending.push({ burn: signed.burn.nonce, state: "expired", reason });
  }
  if (state.kind === "received" && state.units === 0n) return note(`${inbox.address}: received and settled already.`);
  transactions.push(...(await deployMissingHubs([inbox], inspection, context)));
  const isReceived = state.kind === "received";
  note(
    isReceived
      ? `Somebody received the burn already. Settling what lies in ${inbox.address}.`
      : `Receiving for ${inbox.address} and settling it.`,
  );
  const call = isReceived
    ? buildSettleCall([inbox.terms], inbox.hub)
    : buildReceiveCall(inbox, chain.transmitter, signed);
  const txHash = await wallet.send(call, (hash) => note(`  sent ${hash}`));
  const units = await readSettledUnits(request, inbox, txHash);
  if (units === 0n) note(`  It moved nothing: somebody settled ${inbox.address} before.`);
  const { settleToken, payout } = inbox.terms;
  const moved = units === 0n ? [] : [{ inboxAddress: inbox.address, token: settleToken, units, to: payout }];
  transactions.push({ what: isReceived ? "settle" : "receive", chainId: String(inspection.chainId), txHash, moved });
}
