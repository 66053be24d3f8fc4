import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { createContext, runInContext } from "node:vm";
import { webhooks, WebhookVerificationError, type WebhookRefusal } from "@tributary/client/webhooks";
import { build } from "esbuild";
import { Webhook as StandardWebhook } from "standardwebhooks";
import { Webhook as SvixWebhook } from "svix";
import { SeededRandom } from "../sim/seededRandom.ts";
import { drawBytes } from "../support/drawBytes.ts";

// The receiver's check against two foreign libraries, which sign here, and verify what it accepts.

const NOW = new Date("2026-11-25T10:00:00.000Z");
const BODY = JSON.stringify({ id: "evt_1", object: "event", type: "payment_intent.settled", note: "déjà, 支付" });
const LIBRARIES = [
  ["standardwebhooks", StandardWebhook],
  ["svix", SvixWebhook],
] as const;

const newSecret = () => `whsec_${Buffer.from(drawBytes(32)).toString("base64")}`;
const [OLD, NEW, OTHER] = [newSecret(), newSecret(), newSecret()];

type Signed = { "webhook-id": string; "webhook-timestamp": string; "webhook-signature": string };

function sign(
  secrets: readonly string[],
  options: { at?: Date; body?: string; Library?: typeof StandardWebhook } = {},
) {
  const { at = NOW, body = BODY, Library = StandardWebhook } = options;
  return {
    "webhook-id": "evt_1",
    "webhook-timestamp": String(Math.floor(at.getTime() / 1_000)),
    "webhook-signature": secrets.map((secret) => new Library(secret).sign("evt_1", at, body)).join(" "),
  } satisfies Signed;
}

const verify = (body: string | Uint8Array, headers: Signed, secrets: string | readonly string[]) =>
  webhooks.verify(body, headers, { secrets, now: NOW });

async function refuses(code: WebhookRefusal, given: Promise<unknown>): Promise<void> {
  await assert.rejects(given, (error) => error instanceof WebhookVerificationError && error.code === code);
}

for (const [name, Library] of LIBRARIES) {
  test(`D33 what ${name} signs is accepted by either secret while they rotate, as text and as bytes`, async () => {
    const rotating = sign([NEW, OLD], { Library });
    for (const secrets of [NEW, OLD, [OLD, NEW], [OTHER, OLD]]) {
      assert.deepEqual(await verify(BODY, rotating, secrets), JSON.parse(BODY));
      assert.deepEqual(await verify(new TextEncoder().encode(BODY), rotating, secrets), JSON.parse(BODY));
    }
    await refuses("wrong_signature", verify(BODY, rotating, OTHER));
    await refuses("wrong_signature", verify(BODY, sign([OTHER], { Library }), [OLD, NEW]));
    assert.deepEqual(await verify(BODY, rotating, OLD.slice("whsec_".length)), JSON.parse(BODY), "without the prefix");
  });
}

test("headers are read as fetch, Node and frameworks give them", async () => {
  const signed = sign([NEW]);
  const options = { secrets: NEW, now: NOW };
  await webhooks.verify(BODY, new Headers(signed), options);
  const upper = Object.fromEntries(Object.entries(signed).map(([name, value]) => [name.toUpperCase(), value]));
  await webhooks.verify(BODY, upper, options);
  for (const name of Object.keys(signed)) {
    await refuses("missing_header", webhooks.verify(BODY, { ...signed, [name]: undefined }, options));
    await refuses("missing_header", webhooks.verify(BODY, { ...signed, [name]: "" }, options));
    const twice = { ...signed, [name]: ["a", "b"] };
    await refuses("missing_header", webhooks.verify(BODY, twice, options));
  }
});

test("a signature is good for five minutes before and after its time", async () => {
  const at = (seconds: number) => new Date(NOW.getTime() + seconds * 1_000);
  const signed = sign([NEW]);
  const verifyAt = (seconds: number, more = {}) =>
    webhooks.verify(BODY, signed, { secrets: NEW, now: at(seconds), ...more });
  for (const seconds of [-300, 0, 300]) await verifyAt(seconds);
  await refuses("too_old", verifyAt(301));
  await refuses("too_new", verifyAt(-301));
  await refuses("too_old", verifyAt(61, { toleranceS: 60 }));
  for (const toleranceS of [Number.NaN, Number.POSITIVE_INFINITY, -1])
    await assert.rejects(verifyAt(0, { toleranceS }), TypeError);
  for (const timestamp of ["", "soon", "1e9", "-1", "1.5", "9".repeat(13), " 1"])
    await assert.rejects(verify(BODY, { ...signed, "webhook-timestamp": timestamp }, NEW), WebhookVerificationError);
});

test("a secret that is none is a mistake of the program, and its message does not show it", async () => {
  for (const secrets of [[], "", "whsec_", "whsec_not base64!", [NEW, "ünsafe"]])
    await assert.rejects(verify(BODY, sign([NEW]), secrets), (error) => {
      assert.ok(error instanceof TypeError);
      assert.doesNotMatch(error.message, /not base64!|ünsafe/);
      return true;
    });
});

test("a signed body that is no JSON, or no UTF-8, is refused", async () => {
  await refuses("invalid_body", verify("{", sign([NEW], { body: "{" }), NEW));
});

test("500 damaged requests: it accepts what the foreign library accepts, and nothing else", async (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: NOW });
  const random = new SeededRandom("webhooks");
  const outcomes = { accepted: 0, refused: 0 };
  for (let round = 0; round < 500; round += 1) {
    const headers: Signed = sign(random.pick([[NEW], [OLD], [NEW, OLD], [OTHER, NEW], [OTHER]]), {
      at: new Date(NOW.getTime() + random.pick([0, 0, 299_000, -299_000, 600_000, -600_000])),
    });
    let body = BODY;
    const damage = random.pick([
      "none",
      "none",
      "body",
      "id",
      "time",
      "signature",
      "version",
      "space",
      "more",
    ] as const);
    const flip = (text: string) => {
      const index = random.between(0, text.length - 1);
      return text.slice(0, index) + (text[index] === "A" ? "B" : "A") + text.slice(index + 1);
    };
    if (damage === "body") body = flip(BODY);
    if (damage === "id") headers["webhook-id"] += "0";
    if (damage === "time") headers["webhook-timestamp"] = String(Number(headers["webhook-timestamp"]) + 1);
    if (damage === "signature") headers["webhook-signature"] = flip(headers["webhook-signature"]);
    if (damage === "version") headers["webhook-signature"] = headers["webhook-signature"].replaceAll("v1,", "v2,");
    if (damage === "space") headers["webhook-signature"] = ` ${headers["webhook-signature"]} `;
    if (damage === "more") headers["webhook-signature"] = `v1a,x v1 ${headers["webhook-signature"]} v1,`;
    const isForeign = [NEW, OLD].some((secret) => {
      try {
        new StandardWebhook(secret).verify(body, headers);
        return true;
      } catch {
        return false;
      }
    });
    const isOurs = await webhooks.verify(body, headers, [NEW, OLD]).then(
      () => true,
      () => false,
    );
    assert.equal(isOurs, isForeign, `${damage}: ${JSON.stringify(headers)}`);
    outcomes[isOurs ? "accepted" : "refused"] += 1;
  }
  assert.ok(outcomes.accepted > 50 && outcomes.refused > 50, JSON.stringify(outcomes));
});

test("it runs where there is nothing of Node: WebCrypto and the web's own functions are enough", async () => {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(import.meta.resolve("@tributary/client/webhooks"))],
    bundle: true,
    write: false,
    format: "iife",
    globalName: "client",
    platform: "neutral",
  });
  const edge = createContext({ crypto, TextEncoder, TextDecoder, atob });
  runInContext(outputFiles[0]?.text ?? "", edge);
  Object.assign(edge, { given: [BODY, sign([NEW], { at: new Date() }), NEW] });
  const event = (await runInContext("client.webhooks.verify(...given)", edge)) as { id: string };
  assert.equal(event.id, "evt_1");
});
