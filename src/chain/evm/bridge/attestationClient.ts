import { Pool } from "undici";
import {
  BridgeUnavailable,
  type BridgeFees,
  type BridgeService,
  type BurnProof,
  type BurnQuery,
  type BurnTracking,
} from "../../bridge.ts";
import { readBoundedText } from "../../../kernel/text/readBoundedText.ts";
import { parseBurnMessage, toMessageAccount } from "@tributary/recover/bridge/burnMessage";

// Circle's attestation service, version 2. Nothing that it says is trusted: a message must be that of the burn, and the settle chain verifies
// the signatures.

const CONNECTIONS_MAX = 10;
const TIMEOUT_MS = 10_000;
/**
 * Anybody may burn for an inbox, in one transaction with long messages of their own. Those of a full block have about ten million bytes in an
 * answer, and none may keep the inbox's proof from being found.
 */
const RESPONSE_BYTES_MAX = 32_000_000;
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
  /** Makes one request. Rejects without an answer. */
  request(method: "GET" | "POST", path: string): Promise<{ status: number; text: string }>;
  close(): Promise<void>;
};

/** Opens the client without connecting. `url`: the base of the service, such as https://iris-api.circle.com. */
export function openAttestationClient(url: string): BridgeService {
  const { origin, pathname, host } = new URL(url);
  const base = pathname.replace(/\/+$/, "");
  const pool = new Pool(origin, { connections: CONNECTIONS_MAX, connectTimeout: TIMEOUT_MS });
  return createAttestationClient({
    host,
    request: async (method, path) => {
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      const response = await pool.request({ method, path: `${base}${path}`, signal });
      return { status: response.statusCode, text: await readBoundedText(response.body, RESPONSE_BYTES_MAX) };
    },
    close: () => pool.destroy(),
  });
}

export function createAttestationClient(transport: AttestationTransport): BridgeService {
  const { host } = transport;

  async function request(method: "GET" | "POST", path: string): Promise<{ status: number; body: unknown }> {
    try {
      const { status, text } = await transport.request(method, path);
      if (status === 429) throw new BridgeUnavailable(`${host} refuses further requests`, { isLimited: true });
      if (status !== 200 && status !== 404) throw new BridgeUnavailable(`${host} answered with status ${status}`);
      return { status, body: status === 200 ? JSON.parse(text) : undefined };
    } catch (error) {
      throw toUnavailable(host, error);
    }
  }

  return {
    async track(burn) {
      const { status, body } = await request("GET", `/v2/messages/${burn.domain}?transactionHash=${burn.chainTx}`);
      return status === 404 ? { kind: "unseen" } : parseTracking(host, body, burn);
    },
    async renew(mint) {
      const { status } = await request("POST", `/v2/reattest/${mint.split("/").at(-1)}`);
      if (status === 404) throw new BridgeUnavailable(`${host} does not know the message of ${mint}`);
    },
    async fees({ domain, settleDomain }) {
      const { status, body } = await request("GET", `/v2/burn/USDC/fees/${domain}/${settleDomain}`);
      if (status === 404) throw new BridgeUnavailable(`${host} has no fees from domain ${domain} to ${settleDomain}`);
      return parseFees(host, body);
    },
    close: () => transport.close(),
  };
}

function parseTracking(host: string, body: unknown, burn: BurnQuery): BurnTracking {
  const messages = readField(body, "messages");
  if (!Array.isArray(messages)) throw new BridgeUnavailable(`${host} answered without messages`);
  let isPending = false;
  let reason: string | undefined;
  const proofs = messages.flatMap((entry: unknown): BurnProof[] => {
    const status = readField(entry, "status");
    if (status !== "complete") {
      isPending = true;
      const delay = readField(entry, "delayReason");
      if (typeof delay === "string") reason = delay.slice(0, REASON_LENGTH_MAX);
      return [];
    }
    const proof = toProof(entry, burn);
    return proof === undefined ? [] : [proof];
  });
  if (proofs.length > 0) return { kind: "proven", proofs };
  if (isPending || messages.length === 0) return { kind: "pending", reason };
  return { kind: "foreign" };
}

/** Undefined for the message of another burn, and for one that is not this burn's although it should be. */
function toProof(entry: unknown, burn: BurnQuery): BurnProof | undefined {
  const [message, attestation] = [readField(entry, "message"), readField(entry, "attestation")];
  if (typeof message !== "string" || typeof attestation !== "string") return undefined;
  if (!/^0x(?:[0-9a-f]{2}){65,}$/i.test(attestation)) return undefined;
  const parsed = parseBurnMessage(message);
  const inbox = toMessageAccount(burn.inbox);
  const isOfBurn =
    parsed !== undefined &&
    parsed.sourceDomain === burn.domain &&
    parsed.settleDomain === burn.settleDomain &&
    parsed.sender === inbox &&
    parsed.recipient === inbox &&
    parsed.token === toMessageAccount(burn.token) &&
    parsed.units === burn.units;
  if (!isOfBurn) return undefined;
  const { expirationBlock, nonce } = parsed;
  return {
    message: message.toLowerCase(),
    attestation: attestation.toLowerCase(),
    mint: `${BRIDGE}/${burn.domain}/${nonce}`,
    expiresAtBlock: expirationBlock === 0n ? undefined : expirationBlock,
  };
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
