import type { AttestationTransport } from "../../../src/chain/evm/bridge/attestationClient.ts";
import type { FaultKind, FaultSchedule } from "../faultSchedule.ts";
import type { SimProcess } from "../simProcess.ts";
import type { AttestationService, AttestedMessage } from "./attestationService.ts";

const TIMEOUT_MS = 10_000;
const REFUSED_MS = 300_000;
/** The service refuses more in a second. */
const REQUESTS_MAX = 35;
const SECOND_MS = 1_000;
/**
 * A transaction with so many burns is answered in full at most so often: once, and again where a process did not come
 * to store it.
 */
const BURNS_MANY = 40;
const PROVEN_ANSWERS_MAX = 12;

type Answer = { status: number; text: string };

/**
 * The service as the network shows it: down, slow, limited, and with answers that are wrong. All processes share it.
 */
export class AttestationNetwork {
  readonly service: AttestationService;
  downUntilMs = 0;
  refusesUntilMs = 0;
  /** The messages that it has answered lately, of any transaction. */
  readonly recent: AttestedMessage[] = [];
  /** By domain and transaction, another transaction whose messages it answers in its place, once both are signed. */
  readonly mistakes = new Map<string, string>();
  /** How often it has answered all proofs of a transaction. */
  readonly #provenAnswers = new Map<string, number>();
  readonly #faults: FaultSchedule;
  readonly #requestTimes: number[] = [];
  readonly #violate: (rule: string, subject: string) => void;

  constructor(parts: {
    service: AttestationService;
    faults: FaultSchedule;
    violate: (rule: string, subject: string) => void;
  }) {
    this.service = parts.service;
    this.#faults = parts.faults;
    this.#violate = parts.violate;
  }

  /** When its crossings go on at the latest. */
  get silentUntilMs(): number {
    return Math.max(this.downUntilMs, this.refusesUntilMs, this.service.delay.untilMs);
  }

  /** The service as one process reaches it. */
  connect(process: SimProcess, assertCallAllowed: (call: string) => void): AttestationTransport {
    return {
      host: "attestation",
      request: async (method, path) => {
        assertCallAllowed(`${method} ${path}`);
        await process.wait(20 + process.random.number() * 200);
        if (this.downUntilMs > process.scheduler.nowMs) throw new Error("connection refused");
        this.#noteRequest(process.scheduler.nowMs);
        if (this.#shouldInject("attestationTimeout")) return failWithTimeout(process);
        if (this.#shouldInject("attestationSlow")) await process.wait(process.random.number() * (TIMEOUT_MS - 1_000));
        const answer = this.#answer(process, method, path);
        if (this.#shouldInject("attestationLost")) return failWithTimeout(process);
        this.#noteAnswer(path, answer.text);
        await process.wait(5 + process.random.number() * 60);
        return answer;
      },
      close: () => Promise.resolve(),
    };
  }

  #noteRequest(nowMs: number): void {
    this.#requestTimes.push(nowMs);
    while ((this.#requestTimes[0] ?? nowMs) <= nowMs - SECOND_MS) this.#requestTimes.shift();
    if (this.#requestTimes.length > REQUESTS_MAX)
      this.#violate("the bridge's service is asked too often", `${this.#requestTimes.length} requests in a second`);
  }

  #answer(process: SimProcess, method: string, path: string): Answer {
    const { nowMs } = process.scheduler;
    if (this.#shouldInject("attestationLimited")) this.refusesUntilMs = nowMs + REFUSED_MS;
    if (this.refusesUntilMs > nowMs) return { status: 429, text: "Too many requests" };
    if (this.#shouldInject("attestationError")) return { status: process.random.pick([500, 502, 503]), text: "<html>" };
    const [, , kind, first = ""] = path.split(/[/?]/);
    const isUnseen = this.#shouldInject("attestationUnseen");
    if (isUnseen) return { status: 404, text: "{}" };
    const answer = this.#handle(process, { method, path, kind, first });
    return answer.status === 200 && this.#shouldInject("attestationMalformed") ? malformed(process, answer) : answer;
  }

  #handle(
    process: SimProcess,
    request: { method: string; path: string; kind: string | undefined; first: string },
  ): Answer {
    const { method, path, kind, first } = request;
    const { service } = this;
    if (method === "POST" && kind === "reattest") {
      return service.renew(first) ? { status: 200, text: `{"nonce":"${first}"}` } : { status: 404, text: "{}" };
    }
    if (kind === "messages") {
      const messages = this.#messagesOf(Number(first), path.split("transactionHash=")[1] ?? "");
      if (messages.length === 0) return { status: 404, text: "{}" };
      const mixed = this.#shouldInject("attestationMixed")
        ? process.random.shuffled([...messages, ...messages, ...this.recent])
        : messages;
      this.recent.push(...messages);
      this.recent.splice(0, this.recent.length - 6);
      return { status: 200, text: JSON.stringify({ messages: mixed }) };
    }
    const fees = [
      { finalityThreshold: 1_000, minimumFee: service.fastFeeBps },
      { finalityThreshold: 2_000, minimumFee: service.standardFeeBps },
    ];
    return { status: 200, text: JSON.stringify(fees) };
  }

  #messagesOf(domain: number, chainTx: string): AttestedMessage[] {
    const { service, mistakes } = this;
    const messages = service.messagesOf(domain, chainTx);
    const other = mistakes.get(`${domain}/${chainTx}`);
    if (other === undefined) return messages;
    const mistaken = service.messagesOf(domain, other);
    const isSigned = (all: readonly AttestedMessage[]) =>
      all.length > 0 && all.every(({ status }) => status === "complete");
    // As if it had seen nothing before it can mistake them.
    if (!isSigned(mistaken) || !isSigned(messages)) return [];
    mistakes.delete(`${domain}/${chainTx}`);
    return mistaken;
  }

  /** One answer proves all burns of a transaction, of which there may be a thousand. */
  #noteAnswer(path: string, text: string): void {
    const proofs = text.split('"status":"complete"').length - 1;
    if (proofs < BURNS_MANY || text.includes('"status":"pending')) return;
    const times = (this.#provenAnswers.get(path) ?? 0) + 1;
    this.#provenAnswers.set(path, times);
    if (times > PROVEN_ANSWERS_MAX)
      this.#violate("the burns of a transaction are asked about one by one", `${path}: ${times} answers`);
  }

  #shouldInject(kind: FaultKind): boolean {
    const isStruck = this.#faults.shouldInject(kind);
    if (isStruck) this.#faults.recordInjected(kind);
    return isStruck;
  }
}

async function failWithTimeout(process: SimProcess): Promise<never> {
  await process.wait(TIMEOUT_MS);
  throw new DOMException("The operation was aborted due to timeout", "TimeoutError");
}

/**
 * An answer that no client may follow: cut short, of another shape, or with a message that another than the attesters
 * signed.
 */
function malformed({ random }: SimProcess, { text }: Answer): Answer {
  const answer = (wrong: string) => ({ status: 200, text: wrong });
  const altered = (change: (message: AttestedMessage) => object) => {
    const { messages } = JSON.parse(text) as { messages?: AttestedMessage[] };
    return answer(JSON.stringify(Array.isArray(messages) ? { messages: messages.map(change) } : [{ minimumFee: "1" }]));
  };
  switch (random.between(0, 9)) {
    case 0:
      return answer(text.slice(0, text.length / 2));
    case 1:
      return answer("<html>");
    case 2:
      return answer('{"messages":{}}');
    case 3:
      return answer('{"messages":[null,7,{"status":"complete"}]}');
    case 4:
      return altered((each) => ({ ...each, status: "complete", attestation: "PENDING" }));
    case 5:
      // Another amount, in bytes 216 to 247 of the message.
      return altered((each) => ({ ...each, message: each.message.replace(/^(0x.{432}.{60})..../, "$1ffff") }));
    case 6:
      return altered((each) => ({ ...each, message: each.message.slice(0, -2) }));
    case 7:
      return altered((each) => ({ ...each, attestation: each.attestation.replace(/.1b$/, "01b") }));
    case 8:
      // Another number, in bytes 12 to 43.
      return altered((each) => ({ ...each, message: each.message.replace(/^(0x.{24})..../, "$1beef") }));
    default:
      return answer("[]");
  }
}
