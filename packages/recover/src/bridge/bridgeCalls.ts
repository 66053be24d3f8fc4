import { cctpV2AdapterCreationCode, cctpV2AdapterSalt } from "@tributary/inbox/cctpV2Adapter";
import { deterministicDeployer } from "@tributary/inbox/hub";
import { encodeTerms, type Hex } from "@tributary/inbox/terms";
import { encodeAddress, encodeUint, toFunctionSelector } from "../abi.ts";
import { TERMS_ABI_TYPE, type ContractCall } from "../contractCalls.ts";
import type { VerifiedInbox } from "../parseInboxes.ts";
import type { AttestedMessage } from "./attestation.ts";
import type { ProvenRoute } from "./planBridge.ts";

// The calls of a deposit that crosses to its settle chain. Anyone may send them.

const BRIDGE_SELECTOR = toFunctionSelector(
  `bridge(${TERMS_ABI_TYPE},(uint64,address,address,uint256,bytes),bytes32[],bytes)`,
);
const RECEIVE_AND_SETTLE_SELECTOR = toFunctionSelector(`receiveAndSettle(address,bytes,bytes,${TERMS_ABI_TYPE})`);
const RECEIVE_SELECTOR = toFunctionSelector("receiveMessage(bytes,bytes)");
const USED_NONCES_SELECTOR = toFunctionSelector("usedNonces(bytes32)");

const WORD_BYTES = 32;
const TERMS_BYTES = 9 * WORD_BYTES;
const TWO_WORDS = 2 * WORD_BYTES;

type InboxOfHub = Pick<VerifiedInbox, "terms" | "hub">;

/** Burns the inbox's balance of the route's token, to be minted to the same inbox on the settle chain. */
export function buildBridgeCall({ terms, hub }: InboxOfHub, { route, proof }: ProvenRoute): ContractCall {
  const encodedRoute = [
    encodeUint(route.chainId),
    encodeAddress(route.token),
    encodeAddress(route.adapter),
    encodeUint(route.minAmount),
    encodeUint(5 * WORD_BYTES),
    encodeBytes(route.config),
  ].join("");
  const encodedProof = `${encodeUint(proof.length)}${proof.map((hash) => hash.slice(2)).join("")}`;
  const noQuote = encodeBytes("0x");
  const routeAt = TERMS_BYTES + 3 * WORD_BYTES;
  const proofAt = routeAt + encodedRoute.length / 2;
  const quoteAt = proofAt + encodedProof.length / 2;
  const offsets = [routeAt, proofAt, quoteAt].map(encodeUint).join("");
  const parameters = `${encodeTerms(terms).slice(2)}${offsets}${encodedRoute}${encodedProof}${noQuote}`;
  return { to: hub.address, data: `${BRIDGE_SELECTOR}${parameters}` };
}

/**
 * Receives the message, which mints to its inbox, and settles the inbox of the terms. A receipt that fails reverts
 * nothing.
 */
export function buildReceiveCall(
  { terms, hub }: InboxOfHub,
  transmitter: Hex,
  attested: AttestedMessage,
): ContractCall {
  const [message, attestation] = [encodeBytes(attested.message), encodeBytes(attested.attestation)];
  const messageAt = 3 * WORD_BYTES + TERMS_BYTES;
  const offsets = `${encodeUint(messageAt)}${encodeUint(messageAt + message.length / 2)}`;
  const parameters = `${encodeAddress(transmitter)}${offsets}${encodeTerms(terms).slice(2)}${message}${attestation}`;
  return { to: hub.address, data: `${RECEIVE_AND_SETTLE_SELECTOR}${parameters}` };
}

/** Whether the call is one of `buildReceiveCall`. */
export function isReceiveCall({ data }: ContractCall): boolean {
  return data.startsWith(RECEIVE_AND_SETTLE_SELECTOR);
}

/** The receipt alone, which reverts with Circle's reason; for a simulation. */
export function buildReceiptCall(transmitter: Hex, attested: AttestedMessage): ContractCall {
  const [message, attestation] = [encodeBytes(attested.message), encodeBytes(attested.attestation)];
  const offsets = `${encodeUint(TWO_WORDS)}${encodeUint(TWO_WORDS + message.length / 2)}`;
  return { to: transmitter, data: `${RECEIVE_SELECTOR}${offsets}${message}${attestation}` };
}

/** Reads whether a message has been received. */
export function buildNonceCall(transmitter: Hex, nonce: string): ContractCall {
  return { to: transmitter, data: `${USED_NONCES_SELECTOR}${nonce.slice(2)}` };
}

/** Deploys the adapter of the routes on a chain that lacks it, at the address it has on every chain. */
export function buildDeployAdapterCall(): ContractCall {
  return { to: deterministicDeployer, data: `${cctpV2AdapterSalt}${cctpV2AdapterCreationCode.slice(2)}` };
}

function encodeBytes(bytes: Hex): string {
  const digits = bytes.slice(2);
  const padded = digits.padEnd(Math.ceil(digits.length / 64) * 64, "0");
  return `${encodeUint(digits.length / 2)}${padded}`;
}
