import { Pool } from "undici";
import type { GateConfig } from "../config/config.ts";
import { readBoundedText } from "../kernel/text/readBoundedText.ts";
import { GateUnavailable, type BindDecision, type Gate, type IssueDecision } from "./gate.ts";

// The gate over HTTP; docs/operate/gate.md is the protocol. Only a 200 response with a known verdict counts, so that a
// proxy's error page is never read as a refusal.

const CONNECTIONS_MAX = 16;
const RESPONSE_BYTES_MAX = 16_384;
const FIELD_LENGTH_MAX = 500;

export function openRemoteGate({ url, secret, timeoutMs }: GateConfig): Gate {
  const { origin, pathname, host } = new URL(url);
  const base = pathname.replace(/\/+$/, "");
  const pool = new Pool(origin, { connections: CONNECTIONS_MAX, connectTimeout: timeoutMs });

  async function put(path: string, body: object): Promise<unknown> {
    const signal = AbortSignal.timeout(timeoutMs);
    const headers = { authorization: `Bearer ${secret.reveal()}`, "content-type": "application/json" };
    try {
      const response = await pool.request({
        method: "PUT",
        path: `${base}${path}`,
        headers,
        body: JSON.stringify(body),
        signal,
      });
      const text = await readBoundedText(response.body, RESPONSE_BYTES_MAX);
      if (response.statusCode === 200) return JSON.parse(text);
      const isClientError = response.statusCode < 500 && response.statusCode !== 429;
      throw new GateUnavailable(`${host} answered with status ${response.statusCode}`, {
        isProtocolError: isClientError,
      });
    } catch (error) {
      throw toGateUnavailable(host, error);
    }
  }

  return {
    async bindCustomer(request) {
      return parseBindDecision(host, await put(`/customers/${encodeURIComponent(request.intentId)}`, request));
    },
    async issueInbox(request) {
      const path = `/inboxes/${encodeURIComponent(request.intentId)}/${encodeURIComponent(request.chain)}`;
      return parseIssueDecision(host, await put(path, request));
    },
    close: () => pool.destroy(),
  };
}

function parseBindDecision(host: string, response: unknown): BindDecision {
  switch (readStringField(response, "verdict")) {
    case "bound":
      return { kind: "bound" };
    case "pending":
      return { kind: "pending" };
    case "refused":
      return { kind: "refused", reason: readReason(response) };
    default:
      throw invalidResponse(host);
  }
}

function parseIssueDecision(host: string, response: unknown): IssueDecision {
  const address = readStringField(response, "address");
  switch (readStringField(response, "verdict")) {
    case "issued":
      if (address === undefined) throw invalidResponse(host);
      return { kind: "issued", address };
    case "pending":
      return { kind: "pending" };
    case "disabled":
      return { kind: "disabled" };
    case "refused":
      return { kind: "refused", reason: readReason(response) };
    default:
      throw invalidResponse(host);
  }
}

function readReason(response: unknown): string {
  return readStringField(response, "reason") ?? "no reason given";
}

function readStringField(response: unknown, key: string): string | undefined {
  if (typeof response !== "object" || response === null) return undefined;
  const value: unknown = Reflect.get(response, key);
  return typeof value === "string" && value.length <= FIELD_LENGTH_MAX ? value : undefined;
}

function toGateUnavailable(host: string, error: unknown): GateUnavailable {
  if (error instanceof GateUnavailable) return error;
  if (error instanceof SyntaxError) return invalidResponse(host, error);
  const isTimeout = error instanceof Error && /Timeout/.test(error.name);
  const reason = error instanceof Error ? error.message : String(error);
  return new GateUnavailable(`${host} ${isTimeout ? "timed out" : "is unreachable"}: ${reason}`, {
    isProtocolError: false,
    cause: error,
  });
}

function invalidResponse(host: string, cause?: unknown): GateUnavailable {
  return new GateUnavailable(`${host} answered without a valid verdict`, { isProtocolError: true, cause });
}
