import { Pool } from "undici";
import {
  BridgeUnavailable,
  type BridgeFees,
  type BridgeService,
  type BurnProof,
  type BurnQuery,
  type BurnTracking,
  type TransactionQuery,
} from "../../bridge.ts";
import { openLargeAnswers } from "./largeAnswers.ts";
import { parseBurnMessage, toMessageAccount } from "@tributary/inbox/burnMessage";

// Circle's attestation service, version 2. Nothing that it says is trusted: a message must be that of the burn, and the
// settle chain verifies the signatures.

const CONNECTIONS_MAX = 10;
const CONNECT_MS = 10_000;
const REASON_LENGTH_MAX = 100;
const FAST_THRESHOLD = 1_000;
const STANDARD_THRESHOLD = 2_000;
/** Parts per million of one basis point. */
const PPM_PER_BPS = 100;
const FEE_BPS_MAX = 10_000;
const BRIDGE = "cctp-v2";

/** How the client reaches the service. */
export type AttestationTransport = {
  /** Names the service in errors. */
  readonly host: string;
  /** Makes one request. Rejects without an answer. `release`: called when the text is no longer in use. */
  request(
    method: "GET" | "POST",
    path: string,
  ): Promise<{ status: number; text: string; release?: (() => void) | undefined }>;
  close(): Promise<void>;
};

/** Opens the client without connecting. `url`: the base of the service, such as https://iris-api.circle.com. */
export function openAttestationClient(url: string): BridgeService {
  const { origin, pathname, host } = new URL(url);
  const base = pathname.replace(/\/+$/, "");
  const pool = new Pool(origin, { connections: CONNECTIONS_MAX, connectTimeout: CONNECT_MS });
  const answers = openLargeAnswers();
  return createAttestationClient({
    host,
    request: (method, path) =>
      answers.read(async (signal) => {
        const { statusCode: status, body } = await pool.request({ method, path: `${base}${path}`, signal });
        return { status, body };
      }),
    close: () => pool.destroy(),
  });
}

export function createAttestationClient(transport: AttestationTransport): BridgeService {
  const { host } = transport;

  /** `parse` gets the answer's value, undefined with a status of 4xx. The text is released when it returns. */
  async function request<Result>(
    [method, path]: readonly ["GET" | "POST", string],
    parse: (body: unknown) => Result,
  ): Promise<Result> {
    let release: (() => void) | undefined;
    try {
      const answer = await transport.request(method, path);
      const { status, text } = answer;
      release = answer.release;
      if (status === 429) throw new BridgeUnavailable(`${host} refuses further requests`, { isLimited: true });
      const isKnown = status === 200 || status === 404 || (method === "POST" && status >= 400 && status < 500);
      if (!isKnown) throw new BridgeUnavailable(`${host} answered with status ${status}`);
      return parse(status === 200 ? JSON.parse(text) : undefined);
    } catch (error) {
      throw toUnavailable(host, error);
    } finally {
      release?.();
    }
  }

  return {
    track: (query) =>
      request(["GET", `/v2/messages/${query.domain}?transactionHash=${query.chainTx}`], (body) =>
        body === undefined ? query.burns.map(() => ({ kind: "unseen" })) : parseTracking(host, body, query),
      ),
    renew: (mint) =>
      request(["POST", `/v2/reattest/${mint.split("/").at(-1)}`], (body) =>
        body === undefined ? "refused" : "requested",
      ),
    fees: ({ domain, settleDomain }) =>
      request(["GET", `/v2/burn/USDC/fees/${domain}/${settleDomain}`], (body) => {
        if (body === undefined)
          throw new BridgeUnavailable(`${host} has no fees from domain ${domain} to ${settleDomain}`);
        return parseFees(host, body);
      }),
    close: () => transport.close(),
  };
}

function parseTracking(host: string, body: unknown, { domain, burns }: TransactionQuery): BurnTracking[] {
  const messages = readField(body, "messages");
  if (!Array.isArray(messages)) throw new BridgeUnavailable(`${host} answered without messages`);
  const proofsOf = new Map<string, BurnProof[]>();
  let isPending = messages.length === 0;
  let reason: string | undefined;
  for (const entry of messages as unknown[]) {
    if (readField(entry, "status") === "complete") {
      const found = toProof(entry, domain);
      if (found !== undefined) proofsOf.set(found.key, [...(proofsOf.get(found.key) ?? []), found.proof]);
      continue;
    }
    isPending = true;
    const delay = readField(entry, "delayReason");
    if (typeof delay === "string") reason = delay.slice(0, REASON_LENGTH_MAX);
  }
  return burns.map((burn): BurnTracking => {
    const proofs = proofsOf.get(burnKey(burn));
    if (proofs !== undefined) return { kind: "proven", proofs };
    return isPending ? { kind: "pending", reason } : { kind: "foreign" };
  });
}

/** A signed message as a proof of the burns with its key; undefined for anything else. */
function toProof(entry: unknown, domain: number): { key: string; proof: BurnProof } | undefined {
  const [message, attestation] = [readField(entry, "message"), readField(entry, "attestation")];
  if (typeof message !== "string" || typeof attestation !== "string") return undefined;
  if (!/^0x(?:[0-9a-f]{2}){65,}$/i.test(attestation)) return undefined;
  const parsed = parseBurnMessage(message);
  if (parsed === undefined || parsed.sourceDomain !== domain) return undefined;
  const { settleDomain, sender, recipient, token, units, expirationBlock, nonce } = parsed;
  const proof = {
    message: message.toLowerCase(),
    attestation: attestation.toLowerCase(),
    mint: `${BRIDGE}/${domain}/${nonce}`,
    expiresAtBlock: expirationBlock === 0n ? undefined : expirationBlock,
  };
  return { key: [settleDomain, sender, recipient, token, units].join("/"), proof };
}

/** A message with this key is one of the burn. */
function burnKey({ settleDomain, inbox, recipient, token, units }: BurnQuery): string {
  return [settleDomain, ...[inbox, recipient, token].map(toMessageAccount), units].join("/");
}

function parseFees(host: string, body: unknown): BridgeFees {
  if (!Array.isArray(body)) throw new BridgeUnavailable(`${host} answered without fees`);
  const ppmOf = (threshold: number): number | undefined => {
    const entry: unknown = body.find((each: unknown) => readField(each, "finalityThreshold") === threshold);
    const bps = readField(entry, "minimumFee");
    if (typeof bps !== "number" || !(bps >= 0 && bps <= FEE_BPS_MAX)) return undefined;
    return Math.ceil(bps * PPM_PER_BPS);
  };
  return { fastPpm: ppmOf(FAST_THRESHOLD), standardPpm: ppmOf(STANDARD_THRESHOLD) };
}

function readField(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
}

function toUnavailable(host: string, error: unknown): BridgeUnavailable {
  if (error instanceof BridgeUnavailable) return error;
  const reason = error instanceof Error ? error.message : String(error);
  const isTimeout = error instanceof Error && /Timeout/.test(error.name);
  const what =
    error instanceof SyntaxError ? "answered what cannot be read" : isTimeout ? "timed out" : "is unreachable";
  return new BridgeUnavailable(`${host} ${what}: ${reason}`, { cause: error });
}
