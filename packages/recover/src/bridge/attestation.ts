import type { Hex } from "@tributary/inbox/terms";
import { parseBurnMessage, type BurnMessage } from "@tributary/inbox/burnMessage";
import { readField } from "../readField.ts";

// Circle's attestation service: it signs what a burn's transaction says. Nothing that it says is trusted: the settle
// chain verifies the signatures, and a message can only mint to its own recipient.

export type AttestedMessage = { readonly message: Hex; readonly attestation: Hex };
export type SignedBurn = AttestedMessage & { readonly burn: BurnMessage };

/** What the service knows of a transaction. */
export type BurnState =
  | { readonly kind: "signed"; readonly burns: readonly SignedBurn[] }
  /** Seen and not signed; `reason` is Circle's word for the delay. */
  | { readonly kind: "unsigned"; readonly reason: string | undefined }
  | { readonly kind: "unseen" };

/** One call of the service; rejects when it does not answer. */
export type AttestationRequester = (
  method: "GET" | "POST",
  path: string,
) => Promise<{ readonly status: number; readonly body: unknown }>;

const TIMEOUT_MS = 20_000;
const REASON_LENGTH_MAX = 100;
const FAST_THRESHOLD = 1_000;
const STANDARD_THRESHOLD = 2_000;
const PPM_PER_BPS = 100;

/** Circle's services. */
export const attestationUrls = {
  main: "https://iris-api.circle.com",
  test: "https://iris-api-sandbox.circle.com",
} as const;

/** The public test networks among the chains that this release knows. */
const TEST_CHAIN_IDS: readonly bigint[] = [11_155_111n, 43_113n, 11_155_420n, 421_614n, 84_532n];

/** The service that signs for a chain. */
export function defaultAttestationUrl(chainId: bigint): string {
  return TEST_CHAIN_IDS.includes(chainId) ? attestationUrls.test : attestationUrls.main;
}

/** Opens a service by its base URL, such as https://iris-api.circle.com. */
export function openAttestationService(url: string): AttestationRequester {
  const base = url.replace(/\/+$/, "");
  const { host } = new URL(base);
  return async (method, path) => {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const response = await fetch(`${base}${path}`, { method, signal }).catch((error: unknown) => {
      throw new Error(`The attestation service ${host} does not answer: ${describeFailure(error)}`);
    });
    if (response.status === 429) throw new Error(`${host} refuses further requests; wait five minutes.`);
    if (response.status === 404) return { status: 404, body: undefined };
    if (response.status !== 200) throw new Error(`${host} answered with status ${response.status}.`);
    const body: unknown = await response.json().catch(() => {
      throw new Error(`${host} answered without JSON.`);
    });
    return { status: 200, body };
  };
}

function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error && error.cause.message !== "" ? error.cause.message : error.message;
}

/** Asks for the burns of a transaction, which is on the chain of one of these domains. */
export async function findBurns(
  request: AttestationRequester,
  { chainTx, domains }: { chainTx: string; domains: readonly number[] },
): Promise<BurnState> {
  for (const domain of domains) {
    const { status, body } = await request("GET", `/v2/messages/${domain}?transactionHash=${chainTx}`);
    if (status === 404) continue;
    const state = parseMessages(body);
    if (state.kind !== "unseen") return state;
  }
  return { kind: "unseen" };
}

/** The service's answer about a transaction. */
export function parseMessages(body: unknown): BurnState {
  const messages = readField(body, "messages");
  const entries: unknown[] = Array.isArray(messages) ? messages : [];
  if (entries.length === 0) return { kind: "unseen" };
  const burns = entries.flatMap((entry) => parseSigned(readField(entry, "message"), readField(entry, "attestation")));
  // A transaction is signed as a whole: its burns have the same block.
  const unsigned = entries.find((entry) => readField(entry, "status") !== "complete");
  if (unsigned === undefined) return { kind: "signed", burns };
  const reason = readField(unsigned, "delayReason");
  return { kind: "unsigned", reason: typeof reason === "string" ? reason.slice(0, REASON_LENGTH_MAX) : undefined };
}

/** A signed burn; none for anything else. */
export function parseSigned(message: unknown, attestation: unknown): SignedBurn[] {
  if (typeof message !== "string" || typeof attestation !== "string") return [];
  const burn = parseBurnMessage(message);
  if (burn === undefined || !/^0x(?:[0-9a-f]{2}){65,}$/i.test(attestation)) return [];
  return [{ message: toLower(message), attestation: toLower(attestation), burn }];
}

/** Asks the service to sign an expired message again. */
export async function requestSignature(request: AttestationRequester, { nonce }: BurnMessage): Promise<void> {
  const { status } = await request("POST", `/v2/reattest/${nonce}`);
  if (status === 404) throw new Error("The attestation service does not know this message.");
}

/** Circle's present fees between two domains, in millionths; undefined where it names none. */
export async function readBridgeFees(
  request: AttestationRequester,
  { domain, settleDomain }: { domain: number; settleDomain: number },
): Promise<{ fast: number | undefined; standard: number | undefined }> {
  const { body } = await request("GET", `/v2/burn/USDC/fees/${domain}/${settleDomain}`);
  const list: unknown[] = Array.isArray(body) ? body : [];
  const ppmOf = (threshold: number): number | undefined => {
    const entry = list.find((each) => readField(each, "finalityThreshold") === threshold);
    const bps = readField(entry, "minimumFee");
    return typeof bps === "number" && bps >= 0 ? Math.ceil(bps * PPM_PER_BPS) : undefined;
  };
  return { fast: ppmOf(FAST_THRESHOLD), standard: ppmOf(STANDARD_THRESHOLD) };
}

function toLower(hex: string): Hex {
  return `0x${hex.slice(2).toLowerCase()}`;
}
