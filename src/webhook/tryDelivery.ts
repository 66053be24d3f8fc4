import { showEvent } from "../event/showEvent.ts";
import { OutboundFailure, type Outbound, type OutboundPhases } from "../kernel/outbound/outbound.ts";
import type { World } from "../world.ts";
import { parseRetryAfter, type TryResult } from "./delivery.ts";
import type { DueDelivery } from "./deliveryStore.ts";
import { validSecrets, type WebhookEndpoint } from "./endpoint/endpoint.ts";
import { signatureHeaders } from "./sign.ts";

const ANSWER_BYTES_MAX = 2_048;
const STATUS_GONE = 410;
const ERROR_CHARACTERS_MAX = 500;

type TryWorld = Pick<World, "clock"> & { outbound: Outbound };

/** The id and the JSON of the event; undefined for one that the retention has deleted. */
function shownEvent(delivery: DueDelivery): { id: string; body: string } | undefined {
  if (delivery.test_event !== null) {
    const event = delivery.test_event as { id: string };
    return { id: event.id, body: JSON.stringify(event) };
  }
  if (delivery.eventPosition === null) return undefined;
  const event = showEvent(delivery);
  return { id: event.id, body: JSON.stringify(event) };
}

/** Posts one event. A failure of any kind is a result, because each is an attempt of the delivery log. */
export async function tryDelivery(
  world: TryWorld,
  { endpoint, delivery }: { endpoint: WebhookEndpoint; delivery: DueDelivery },
): Promise<TryResult> {
  const at = world.clock.now();
  const { url } = endpoint;
  const event = shownEvent(delivery);
  const failed = (error: string, phases: OutboundPhases): TryResult => ({
    attempt: {
      at,
      url,
      status_code: null,
      error: error.slice(0, ERROR_CHARACTERS_MAX),
      ...toColumns(phases),
      answer: null,
    },
    retryAfterMs: undefined,
    stop: event === undefined ? "message" : undefined,
  });
  const nothing = { connectedMs: undefined, firstByteMs: undefined, totalMs: 0 };
  if (event === undefined) return failed("the event is older than events are kept", nothing);
  const headers = {
    "content-type": "application/json",
    ...signatureHeaders({ ...event, at, secrets: secretsOf(endpoint, at) }),
  };
  try {
    const response = await world.outbound.post({
      account: endpoint.account_id,
      url,
      headers,
      body: event.body,
      answerBytesMax: ANSWER_BYTES_MAX,
    });
    const { status, answer } = response;
    return {
      attempt: { at, url, status_code: status, error: null, ...toColumns(response), answer },
      retryAfterMs: parseRetryAfter(response.headers["retry-after"], at),
      stop: stopOf(status, response.headers["webhook-delivery"]),
    };
  } catch (error) {
    if (!(error instanceof OutboundFailure)) throw error;
    return failed(error.message, error.phases);
  }
}

function secretsOf(endpoint: WebhookEndpoint, at: Date): Uint8Array[] {
  return [endpoint.secret, ...validSecrets(endpoint, at).map(({ secret }) => Buffer.from(secret, "base64"))];
}

/** A receiver may end the tries of an event, or all deliveries, by its status or a header. */
function stopOf(status: number, header: string | undefined): TryResult["stop"] {
  if (status === STATUS_GONE || header === "disable") return "endpoint";
  return header === "abort-message" ? "message" : undefined;
}

function toColumns({ connectedMs, firstByteMs, totalMs }: OutboundPhases) {
  return { connected_ms: connectedMs ?? null, first_byte_ms: firstByteMs ?? null, total_ms: totalMs };
}
