import { deepEqual, ok, rejects } from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, test } from "node:test";
import { BridgeUnavailable, type BridgeService } from "../../bridge.ts";
import { openAttestationClient } from "./attestationClient.ts";

const BURN = {
  settleDomain: 6,
  inbox: `0x${"1b".repeat(20)}`,
  recipient: `0x${"1b".repeat(20)}`,
  token: `0x${"70".repeat(20)}`,
  units: 100n,
};
const QUERY = { domain: 3, chainTx: `0x${"7a".repeat(32)}`, burns: [BURN] };
const PAIR = { domain: 3, settleDomain: 6 };
const word = (digits: string) => digits.padStart(64, "0");
const SIGNATURE = `0x${"51".repeat(65)}`;
const NONCE = "4e".repeat(32);

/** A message as the service signs it. */
function signed({ units = BURN.units, sender = BURN.inbox } = {}): string {
  const account = (address: string) => word(address.slice(2));
  const head = ["00000001", "00000003", "00000006", NONCE, word("e5"), word("e5"), word("0"), "000003e8", "000003e8"];
  const body = ["00000001", account(BURN.token), account(BURN.inbox), word(units.toString(16)), account(sender)];
  return `0x${[...head, ...body, word("2"), word("1"), word("ff")].join("")}`;
}

describe("the client of a bridge's service", () => {
  let server: Server;
  let service: BridgeService;
  let reply: { status: number; text: string };
  before(async () => {
    server = createServer((_, response) => response.writeHead(reply.status).end(reply.text));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    service = openAttestationClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}/base/`);
  });
  after(async () => {
    await service.close();
    server.closeAllConnections();
    server.close();
  });

  const track = async (messages: unknown) => {
    reply = { status: 200, text: JSON.stringify({ messages }) };
    return (await service.track(QUERY))[0];
  };
  const complete = (message: unknown, attestation: unknown = SIGNATURE) => ({
    status: "complete",
    message,
    attestation,
  });

  test("a message of the burn is its proof, whatever stands beside it", async () => {
    const proof = { message: signed(), attestation: SIGNATURE, mint: `cctp-v2/3/0x${NONCE}`, expiresAtBlock: 255n };
    const others = [null, 7, {}, complete("0x12"), complete(signed({ units: 99n })), complete(signed(), "PENDING")];
    deepEqual(await track([...others, complete(signed().toUpperCase().replace("0X", "0x"))]), {
      kind: "proven",
      proofs: [proof],
    });
  });

  test("messages of others, broken signatures and altered bytes prove nothing", async () => {
    const stranger = `0x${"5a".repeat(20)}`;
    const wrong = [
      complete(signed({ sender: stranger })),
      complete(signed({ units: 101n })),
      complete(signed().slice(0, -2)),
      complete(`${signed()}zz`),
      complete(signed(), "0x51"),
      complete(signed(), `${SIGNATURE}5`),
      complete(signed(), null),
      complete(null),
    ];
    for (const each of wrong) deepEqual(await track([each]), { kind: "foreign" }, JSON.stringify(each));
  });

  test("a burn that is not signed yet is pending, with the reason of the service cut short", async () => {
    deepEqual(await track([]), { kind: "pending", reason: undefined });
    const delayed = {
      status: "pending_confirmations",
      delayReason: "x".repeat(500),
      message: "0x",
      attestation: "PENDING",
    };
    deepEqual(await track([delayed]), { kind: "pending", reason: "x".repeat(100) });
    reply = { status: 404, text: "" };
    deepEqual(await service.track(QUERY), [{ kind: "unseen" }]);
  });

  for (const { what, status, text, isLimited = false } of [
    { what: "a page instead of JSON", status: 200, text: "<html>" },
    { what: "JSON without messages", status: 200, text: "{}" },
    { what: "an array", status: 200, text: "[]" },
    { what: "half of an answer", status: 200, text: '{"messages":[' },
    { what: "more bytes than any answer has", status: 200, text: " ".repeat(32_000_001) },
    { what: "a failure of its own", status: 500, text: "{}" },
    { what: "a redirect", status: 302, text: "" },
    { what: "that it refuses further requests", status: 429, text: "{}", isLimited: true },
  ])
    test(`a service that answers ${what} counts as unavailable`, async () => {
      reply = { status, text };
      await rejects(service.track(QUERY), (error) => {
        ok(error instanceof BridgeUnavailable, String(error));
        deepEqual(error.isLimited, isLimited);
        return true;
      });
    });

  test("fees that no service can charge count as not offered", async () => {
    const fees = async (body: unknown) => {
      reply = { status: 200, text: JSON.stringify(body) };
      return service.fees(PAIR);
    };
    const of = (fast: unknown, standard: unknown) => [
      { finalityThreshold: 1_000, minimumFee: fast },
      { finalityThreshold: 2_000, minimumFee: standard },
    ];
    deepEqual(await fees(of(1.3, 0)), { fastPpm: 130, standardPpm: 0 });
    deepEqual(await fees(of(1.299_999, 14)), { fastPpm: 130, standardPpm: 1_400 });
    for (const odd of [-1, 10_001, "1", null])
      deepEqual(await fees(of(odd, odd)), { fastPpm: undefined, standardPpm: undefined }, String(odd));
    deepEqual(await fees([]), { fastPpm: undefined, standardPpm: undefined });
    await rejects(fees({}), BridgeUnavailable);
  });
});
