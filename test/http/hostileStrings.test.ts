import assert from "node:assert/strict";
import { test } from "node:test";
import { faultRows } from "../../src/kernel/faults.ts";
import { testApi, type TestResponse, type Json, type Merchant, type TestApi } from "../support/api.ts";
import { HOSTILE_STRINGS } from "../support/hostileStrings.ts";
import { isDeepRun } from "../support/runNumber.ts";

// Every input place keeps a text unchanged or refuses it in the envelope with its field's name.

const URL = "/api/v1/intents";
/** Below the strictest rate limit per minute. */
const CALLS_PER_MINUTE = 20;

type Call = (merchant: Merchant, text: string, intentId: string) => Promise<TestResponse>;
/** Where a call sends the text, the field that a refusal names, and the part of the answer that returns the text. */
type InputPlace = { location: string; field: string; call: Call; readBack?: (body: Json) => unknown };

const inCreate = (
  field: string,
  readBack?: (body: Json) => unknown,
  fieldIn?: (text: string) => object,
): InputPlace => ({
  location: fieldIn === undefined ? "a create" : JSON.stringify(fieldIn("…")),
  field,
  call: (merchant, text) => merchant.post(URL, fieldIn?.(text) ?? { [field]: text }),
  ...(readBack === undefined ? {} : { readBack }),
});
const inSubresource = (path: string, field: string, bodyOf: (text: string) => object): InputPlace => ({
  location: path,
  field,
  call: (merchant, text, id) => merchant.post(`${URL}/${id}/${path}`, bodyOf(text)),
});
const inQuery = (path: string, field: string): InputPlace => ({
  location: `a list of ${path.slice(6) || "intents"}`,
  field,
  call: (merchant, text, id) => merchant.get(`${URL}${path.replace("{id}", id)}?${field}=${escaped(text)}`),
});
const inHeader = (field: string): InputPlace => ({
  location: "a head",
  field,
  call: (merchant, text) => merchant.post(URL, {}, { [field.toLowerCase()]: toHeaderValue(text) }),
});
const inSession = (field: string): InputPlace => ({
  location: "a session",
  field,
  call: async (_, text, id) =>
    (await testApi()).send(`/c/${id}/session`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: { [field]: text },
    }),
});

const SOLANA = { namespace: "solana", reference: "a", mint: "b" };
const SELECTION = { namespace: "eip155", reference: "31337", tokenAddress: "0x" };

const INPUT_PLACES: readonly InputPlace[] = [
  inCreate("merchantReference", (body) => body.merchantReference),
  inCreate(
    "metadata",
    (body) => body.metadata.kept,
    (text) => ({ metadata: { kept: text } }),
  ),
  inCreate(
    "metadata",
    (body) => body.metadata.in[0].kept,
    (text) => ({ metadata: { in: [{ kept: text }] } }),
  ),
  inCreate(
    "metadata",
    (body) => Object.keys(body.metadata)[0],
    (text) => ({ metadata: { [text]: 1 } }),
  ),
  inCreate("payoutWallet", (body) => body.payout.wallet),
  inCreate("payoutNamespace", (body) => body.payout.namespace),
  inCreate("payoutChainReference", (body) => body.payout.chainReference),
  inCreate("payoutTokenAddress", (body) => body.payout.tokenAddress),
  inCreate("priceUnits"),
  inCreate("oneTime"),
  inSubresource("source-inbox", "chainId", (text) => ({ chainId: text })),
  inSubresource("source-inbox", "namespace", (text) => ({ ...SOLANA, namespace: text })),
  inSubresource("source-inbox", "reference", (text) => ({ ...SOLANA, reference: text })),
  inSubresource("source-inbox", "mint", (text) => ({ ...SOLANA, mint: text })),
  inSubresource("view", "selection", (text) => ({ selection: text })),
  inSubresource("view", "selection.namespace", (text) => ({ selection: { ...SELECTION, namespace: text } })),
  inSubresource("view", "selection.reference", (text) => ({ selection: { ...SELECTION, reference: text } })),
  inSubresource("view", "selection.tokenAddress", (text) => ({ selection: { ...SELECTION, tokenAddress: text } })),
  inQuery("", "merchantReference"),
  ...["", "/{id}/deposits", "/{id}/settlements"].flatMap((path) => [inQuery(path, "limit"), inQuery(path, "cursor")]),
  inHeader("Idempotency-Key"),
  inHeader("Service-Version"),
  inHeader("Authorization"),
  inSession("widgetToken"),
  inSession("ticket"),
];
const ID_SUFFIXES = ["", "/origins", "/deposits", "/settlements", "/source-inbox", "/view", "/archive"];

/** Percent-encodes as a browser does; a lone surrogate becomes its bytes, which are invalid UTF-8. */
function escaped(text: string): string {
  return text.isWellFormed() ? encodeURIComponent(text) : `%ED%A0%80${encodeURIComponent(text.toWellFormed())}`;
}

/** The text's bytes as a header value, without bytes that would end the line. */
function toHeaderValue(text: string): string {
  return Buffer.from(text)
    .toString("latin1")
    .replaceAll(/[\r\n\0]/g, "");
}

const TEXTS = Object.values(HOSTILE_STRINGS).flat();

/** The texts for one of the input places: every third, and all in the deep tests. */
function textsOf(place: number): readonly string[] {
  return isDeepRun ? TEXTS : TEXTS.filter((_, index) => index % 3 === place % 3);
}

type Calls = { call: (text: string) => Promise<TestResponse>; texts?: readonly string[] };

/** Calls with every text and passes each answer to `check`. */
async function callWithEveryString(
  api: TestApi,
  { call, texts = TEXTS }: Calls,
  check: (response: TestResponse, text: string) => unknown,
) {
  let calls = 0;
  for (const text of texts) {
    if (calls % CALLS_PER_MINUTE === 0) api.advanceTime(61_000);
    calls += 1;
    await check(await call(text), text);
  }
}

function assertEnvelope({ status, body, headers, text }: TestResponse): { code: string; param?: string } {
  const { error } = body ?? {};
  const row = faultRows[error?.code as keyof typeof faultRows];
  assert.equal(row?.status, status, text);
  assert.ok(status < 500, text);
  assert.equal(error.request_id, headers["request-id"]);
  assert.doesNotMatch(text, /\\n {4}at |node_modules|select .{1,80} from "|invalid input syntax/);
  return error;
}

/** A refusal names the field; a refusal of the JSON itself names the outermost field. */
function assertNamesField(field: string, response: TestResponse, text: string): void {
  const { code, param } = assertEnvelope(response);
  if (response.status === 401 || code === "not_found" || code === "payload_too_large") return;
  // The unknown chain reference comes first.
  if (field === "mint" && code === "unsupported_origin") return;
  const isNamed = param === field || param === field.split(".")[0] || param?.startsWith(`${field}.`) === true;
  assert.ok(isNamed, `${field} ${JSON.stringify(text.slice(0, 40))}: ${response.text}`);
}

for (const [place, { location, field, call, readBack }] of INPUT_PLACES.entries()) {
  test(`D12 any text as ${field} of ${location} is kept unchanged or refused with the field's name`, async () => {
    const api = await testApi();
    const merchant = await api.openMerchant();
    const { intentId } = await merchant.createIntent();
    let keptTexts = 0;
    const texts = textsOf(place);
    await callWithEveryString(
      api,
      { call: (text) => call(merchant, text, intentId), texts },
      async (response, text) => {
        if (response.status >= 300) return assertNamesField(field, response, text);
        if (readBack === undefined) return undefined;
        keptTexts += 1;
        assert.equal(readBack(response.body), text);
        const read = await merchant.get(`${URL}/${response.body.intentId}`);
        assert.equal(readBack(read.body), text);
        return undefined;
      },
    );
    if (/^(?:merchantReference|metadata)$/.test(field) && readBack)
      assert.ok(keptTexts > (texts.length * 2) / 3, `${keptTexts} were kept`);
    assert.deepEqual(Object.keys(Object.prototype), []);
  });
}

test("D12 a stored reference finds only its own intent", async () => {
  const api = await testApi();
  const merchant = await api.openMerchant();
  await callWithEveryString(
    api,
    { call: (merchantReference) => merchant.post(URL, { merchantReference }) },
    async (created, text) => {
      const found = await merchant.get(`${URL}?merchantReference=${escaped(text)}`);
      if (created.status !== 201) return assertNamesField("merchantReference", found, text);
      const references = found.body.data.map(({ merchantReference }: Json) => merchantReference);
      assert.equal(found.body.data[0].intentId, created.body.intentId);
      return assert.deepEqual(new Set(references), new Set([text]));
    },
  );
});

for (const path of ID_SUFFIXES) {
  test(`D22 any text as the id before "${path}" is not found or invalid`, async () => {
    const api = await testApi();
    const merchant = await api.openMerchant();
    const isRead = ["", "/origins", "/deposits", "/settlements"].includes(path);
    const call = (text: string) => {
      const url = `${URL}/${escaped(text)}${path}`;
      return isRead ? merchant.get(url) : merchant.post(url, {});
    };
    await callWithEveryString(api, { call }, (response, text) => {
      // An empty id or dots change the path.
      if (["", ".", ".."].includes(text)) return assert.ok(response.status < 500);
      const { code } = assertEnvelope(response);
      return assert.ok(["not_found", "invalid_request"].includes(code), `${text}: ${response.text}`);
    });
  });
}
