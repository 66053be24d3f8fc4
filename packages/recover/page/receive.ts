import { cctpV2Chains, solanaCctpDomain, type CctpV2Chain } from "@tributary/inbox/cctpV2Chains";
import {
  defaultAttestationUrl,
  findBurns,
  openAttestationService,
  parseMessages,
  parseSigned,
  requestSignature,
  type SignedBurn,
} from "../src/bridge/attestation.ts";
import { buildReceiveCall } from "../src/bridge/bridgeCalls.ts";
import { findRecipient, inspectMint, readSettledUnits } from "../src/bridge/inspectMint.ts";
import { findBridgeChain, findOrigins } from "../src/bridge/planBridge.ts";
import { parseQuantity } from "../src/abi.ts";
import { buildDeployHubCall, buildSettleCall } from "../src/contractCalls.ts";
import { formatUnits } from "../src/format.ts";
import { readHubState } from "../src/inspectChain.ts";
import type { VerifiedInbox } from "../src/parseInboxes.ts";
import { findSolanaRecipient } from "../src/solana/receiveOnSolana.ts";
import { byId, createElement, setMessage } from "./dom.ts";
import type { SolanaStep } from "./solana/solanaStep.ts";
import { sendTransaction, type PageSender } from "./sendTransaction.ts";
import { describeError } from "./wallets.ts";

// Receives on the payout's chain what was bridged, and settles it. Message and attestation are pasted, or fetched from
// Circle.

export type ReceivePage = {
  inboxes(): readonly VerifiedInbox[];
  /** Throws where the pasted contracts are malformed. */
  bridges(): CctpV2Chain[];
  /** Throws without a wallet. */
  sender(): Promise<PageSender>;
  /** Looks at the balances again. */
  onReceived(): Promise<void>;
  onSolana(): Pick<SolanaStep, "inboxes" | "receive">;
};

const USDC_DECIMALS = 6;
/** The base58 of 64 bytes. */
const SOLANA_SIGNATURE = /^[1-9A-HJ-NP-Za-km-z]{64,88}$/;

const burnInput = byId<HTMLInputElement>("burn-tx");
const messageInput = byId<HTMLTextAreaElement>("message");
const attestationInput = byId<HTMLTextAreaElement>("attestation");
/** Further burns of the same transaction. */
let queue: SignedBurn[] = [];

export function setUpReceiving(page: ReceivePage): void {
  const run = (id: string, action: () => Promise<void>) => {
    const button = byId<HTMLButtonElement>(id);
    button.addEventListener("click", () => {
      button.disabled = true;
      setMessage("receive-status", "Asking …");
      action()
        .catch((error: unknown) => setMessage("receive-status", describeError(error), "bad"))
        .finally(() => {
          button.disabled = false;
        });
    });
  };
  run("fetch", () => fetchSigned(page));
  run("receive", () => receive(page));
}

async function fetchSigned(page: ReceivePage): Promise<void> {
  const inboxes = page.inboxes();
  const typed = burnInput.value.trim();
  const isOnSolana = SOLANA_SIGNATURE.test(typed);
  const burnTx = isOnSolana ? typed : typed.toLowerCase();
  if (!isOnSolana && !/^0x[0-9a-f]{64}$/.test(burnTx))
    throw new Error("Give the hash of the transaction that bridged, 0x and 64 digits, or its signature on Solana.");
  const domains = isOnSolana ? [solanaCctpDomain] : findDomains(inboxes, page.bridges());
  const url = attestationUrlOf(inboxes);
  const addresses = domains.map((domain) => `${url}/v2/messages/${domain}?transactionHash=${burnTx}`);
  byId("links").replaceChildren(...addresses.map(createLink));
  const state = await findBurns(openAttestationService(url), { chainTx: burnTx, domains }).catch((error: unknown) => {
    throw new Error(`${describeError(error)} Open the addresses below instead, and paste what one of them shows.`);
  });
  if (state.kind === "unseen")
    throw new Error("Circle has not seen a burn in this transaction yet. Try again in a minute.");
  if (state.kind === "unsigned")
    throw new Error(
      `Circle has not signed it yet${state.reason === undefined ? "" : ` (${state.reason})`}. It does when the chain is final, often after 20 minutes.`,
    );
  queue = state.burns.filter((burn) => isOurs(burn, page));
  if (queue.length === 0) throw new Error("This transaction burned nothing for these inboxes.");
  fillNext();
  setMessage("receive-status", "Message and attestation are here. Receive them on the payout's chain.", "good");
}

function isOurs(burn: SignedBurn, page: ReceivePage): boolean {
  return (
    findRecipient(burn, page.inboxes()) !== undefined ||
    findSolanaRecipient(burn, page.onSolana().inboxes()) !== undefined
  );
}

function findDomains(inboxes: readonly VerifiedInbox[], bridges: readonly CctpV2Chain[]): number[] {
  const listed = inboxes.flatMap((inbox) => findOrigins(inbox, bridges));
  return [...new Set((listed.length > 0 ? listed : cctpV2Chains).map(({ domain }) => domain))];
}

function attestationUrlOf(inboxes: readonly VerifiedInbox[]): string {
  return defaultAttestationUrl(inboxes[0]?.terms.settleChainId ?? 0n);
}

function createLink(address: string): HTMLElement {
  const item = createElement("p");
  const link = createElement("a", address) as HTMLAnchorElement;
  link.href = address;
  link.target = "_blank";
  link.rel = "noreferrer";
  item.append(link);
  return item;
}

function fillNext(): void {
  const next = queue.shift();
  messageInput.value = next?.message ?? "";
  attestationInput.value = next?.attestation ?? "";
}

async function receive(page: ReceivePage): Promise<void> {
  const signed = readSigned(page);
  const onSolana = findSolanaRecipient(signed, page.onSolana().inboxes());
  if (onSolana !== undefined) {
    const signature = await page.onSolana().receive(onSolana, signed);
    fillNext();
    return setMessage("receive-status", `Received and settled on Solana by ${signature}.`, "good");
  }
  const inbox = findRecipient(signed, page.inboxes());
  if (inbox === undefined) throw new Error("The message pays none of the inboxes of the file.");
  const { settleChainId, settleToken } = inbox.terms;
  const sender = await page.sender();
  const { request, account: from } = sender;
  const chainId = parseQuantity(await request("eth_chainId", []), "its id");
  if (chainId !== settleChainId)
    throw new Error(`Switch the network in your wallet to chain ${settleChainId}: it is paid out there.`);
  const chain = findBridgeChain(chainId, page.bridges());
  if (chain === undefined) throw new Error(`Paste Circle's contracts on chain ${chainId} below.`);
  if (signed.burn.settleDomain !== chain.domain) throw new Error(`The message is for another chain than ${chainId}.`);
  const state = await inspectMint(request, inbox, { signed, transmitter: chain.transmitter, from });
  if (state.kind === "refused") throw new Error(`Circle's contract refuses the message: ${state.reason}`);
  if (state.kind === "expired") throw await renew(signed, attestationUrlOf([inbox]));
  if (state.kind === "received" && state.units === 0n) {
    fillNext();
    return setMessage("receive-status", "Somebody received and settled it already. Nothing is left to do.", "good");
  }
  const show = (what: string) => (hash: string) => setMessage("receive-status", `${what}: ${hash}`);
  if ((await readHubState(request, inbox.hub)) === "absent")
    await sendTransaction(sender, buildDeployHubCall(inbox.hub), show("Putting the hub there"));
  const call =
    state.kind === "received"
      ? buildSettleCall([inbox.terms], inbox.hub)
      : buildReceiveCall(inbox, chain.transmitter, signed);
  const hash = await sendTransaction(sender, call, show("Receiving and settling"));
  const units = await readSettledUnits(request, inbox, `0x${hash.slice(2)}`);
  fillNext();
  await page.onReceived();
  const what = settleToken === chain.usdc ? `${formatUnits(units, USDC_DECIMALS)} USDC were settled` : "It was settled";
  const rest = messageInput.value === "" ? "" : " The transaction bridged more: receive again.";
  setMessage("receive-status", `${what} by ${hash}.${rest}`, "good");
}

/** The pasted message: its hex with the attestation, or the whole answer of the service. */
function readSigned(page: ReceivePage): SignedBurn {
  const text = messageInput.value.trim();
  if (text.startsWith("{")) {
    const state = parseMessages(parseJson(text));
    queue = state.kind === "signed" ? state.burns.filter((burn) => isOurs(burn, page)) : [];
    if (queue.length === 0)
      throw new Error("This answer has no signed message for these inboxes. Its status must be complete.");
    fillNext();
  }
  const [signed] = parseSigned(messageInput.value.trim(), attestationInput.value.trim());
  if (signed === undefined) throw new Error("Paste message and attestation as the attestation service shows them.");
  if (/^0x0*$/.test(signed.burn.nonce))
    throw new Error("This message is not signed yet: take it from the attestation service, not from the burn's log.");
  return signed;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error("The answer is not whole: paste all of it.");
  }
}

async function renew(signed: SignedBurn, url: string): Promise<Error> {
  try {
    await requestSignature(openAttestationService(url), signed.burn);
    return new Error("The attestation has expired. Circle was asked for a new one: fetch it in a minute.");
  } catch (error) {
    return new Error(
      `The attestation has expired, and no new one was asked for: ${describeError(error)} Send a POST to ${url}/v2/reattest/${signed.burn.nonce}, and fetch it again.`,
    );
  }
}
