import { cctpV2Chains, findSolanaUsdc } from "@tributary/inbox/cctpV2Chains";
import {
  attestationUrls,
  findBurns,
  openAttestationService,
  requestSignature,
  type SignedBurn,
} from "@tributary/recover/bridge/attestation";
import type { RpcRequester } from "@tributary/recover/rpc/rpcRequester";
import type { RecoverableInbox } from "@tributary/recover/solana/parseSolanaInboxes";
import { findSolanaRecipient, planReceipt } from "@tributary/recover/solana/receiveOnSolana";
import type { SolanaInstruction } from "@tributary/inbox/solana/instructions";
import { withChainError } from "../../operator/client/withChainError.ts";
import { CommandError } from "../../operator/errors.ts";
import type { CommandInput } from "../command.ts";
import { readAttestationUrl, readBridges, readBurnTxs, readSignedBurn } from "../recover/recoverInput.ts";

// Receives on Solana what inboxes burned on EVM chains. What is received is settled as everything else.

/** Circle's main network is the cluster of this reference. */
const MAINNET = "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp";
const AGAIN = "Run the same command again.";

export type SolanaReceiveOptions = {
  burnTxs: readonly string[];
  /** Given by hand. */
  signed: SignedBurn | undefined;
  attestationUrl: string | undefined;
  /** Circle's numbers of the chains on which may have been burned. */
  domains: readonly number[];
};

/** Undefined where nothing is to be received. Throws UsageError. */
export function readReceiveOptions(input: CommandInput): SolanaReceiveOptions | undefined {
  const { values } = input;
  const burnTxs = readBurnTxs(values["receive"]);
  const signed = readSignedBurn(input);
  if (burnTxs.length === 0 && signed === undefined) return undefined;
  const chains = [...readBridges(values["bridges"]), ...cctpV2Chains];
  const domains = [...new Set(chains.map(({ domain }) => domain))];
  return { burnTxs, signed, attestationUrl: readAttestationUrl(values["attestation-url"]), domains };
}

export type ReceiveRun = {
  request: RpcRequester;
  cluster: string;
  inboxes: readonly RecoverableInbox[];
  payer: string;
  /** Sends one transaction. */
  send: (calls: readonly SolanaInstruction[]) => Promise<string>;
  note: (line: string) => void;
};

export type Received = { inboxAddress: string; mint: string; units: bigint; signature: string };
export type NotReceived = { inboxAddress: string; reason: string };

/** Receives each burn. One that Circle has not signed yet, or that is of other inboxes, is in `waiting`. */
export async function receiveOnSolana(
  { burnTxs, signed, attestationUrl, domains }: SolanaReceiveOptions,
  run: ReceiveRun,
): Promise<{ received: Received[]; waiting: NotReceived[] }> {
  const isMain = run.cluster === MAINNET || findSolanaUsdc(run.cluster) === undefined;
  const service = openAttestationService(attestationUrl ?? (isMain ? attestationUrls.main : attestationUrls.test));
  const [received, waiting]: [Received[], NotReceived[]] = [[], []];
  const receive = async (burn: SignedBurn) => {
    const recoverable = findSolanaRecipient(burn, run.inboxes);
    if (recoverable === undefined) return void waiting.push({ inboxAddress: burn.burn.recipient, reason: NOT_OURS });
    const { address: inboxAddress, terms } = recoverable.inbox;
    try {
      const calls = await planReceipt(run.request, recoverable, { signed: burn, payer: run.payer });
      if (calls === undefined) return run.note(`${inboxAddress}: somebody has received the burn.`);
      let signature = "";
      for (const each of calls) signature = await run.send(each);
      received.push({ inboxAddress, mint: terms.mint, units: burn.burn.units - burn.burn.feeUnits, signature });
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      // The messenger's number for a message whose last slot has passed.
      const isExpired = error.message.includes("6016");
      if (isExpired) await withChainError(requestSignature(service, burn.burn), "No new signature was asked for");
      const reason = isExpired
        ? `The attestation has expired, and Circle was asked for a new one. ${AGAIN}`
        : error.message;
      waiting.push({ inboxAddress, reason });
    }
  };
  if (signed !== undefined) await receive(signed);
  for (const chainTx of burnTxs) {
    const state = await withChainError(findBurns(service, { chainTx, domains }), "Nothing was received");
    if (state.kind === "unseen")
      waiting.push({ inboxAddress: chainTx, reason: `Circle has not seen a burn in it. ${AGAIN}` });
    if (state.kind === "unsigned")
      waiting.push({ inboxAddress: chainTx, reason: `Circle has not signed it yet. ${AGAIN}` });
    if (state.kind === "signed") for (const burn of state.burns) await receive(burn);
  }
  return { received, waiting };
}

const NOT_OURS = "It was burned for none of these inboxes.";
