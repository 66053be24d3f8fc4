import assert from "node:assert/strict";
import { test } from "node:test";
import { publishedContracts } from "@tributary/inbox/publishedContracts";
import { assertFault, TWO_DECIMAL_TOKEN, DUSD, testApi, USDC } from "../../support/api.ts";
import { randomAddress } from "../../support/intents.ts";

const URL = "/api/v1/intents";
const SOLANA_WALLET = "7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV";

const PRICES = [
  "0",
  "-0",
  "-1",
  "1.5",
  "0.1",
  "1e-1",
  "1e21",
  "9007199254740992",
  "9007199254740993",
  "9007199254740991.4",
  "1.0000000000000000000001",
  '"5"',
  "true",
  "[]",
  "{}",
];

test("D9 a price must be a whole number from 1 to 2^53 - 1", async () => {
  const merchant = await (await testApi()).openMerchant();
  for (const price of PRICES) {
    const error = assertFault(await merchant.post(URL, `{"priceUnits": ${price}}`), 400, "invalid_request");
    assert.equal(error.param, "priceUnits", price);
  }
  for (const price of ["NaN", "Infinity", "05", "+5", ".5", "0x10"]) {
    assertFault(await merchant.post(URL, `{"priceUnits": ${price}}`), 400, "invalid_json");
  }
});

test("D9 a price must be a whole number of the token's units", async () => {
  const merchant = await (await testApi()).openMerchant();
  const error = assertFault(
    await merchant.post(URL, { priceUnits: 1, payoutTokenAddress: TWO_DECIMAL_TOKEN }),
    400,
    "invalid_request",
  );
  assert.equal(error.param, "priceUnits");
});

test("§4.2.9, D10 oneTime needs a price, and is a boolean", async () => {
  const merchant = await (await testApi()).openMerchant();
  assert.equal(assertFault(await merchant.post(URL, { oneTime: true }), 400, "price_required").param, "priceUnits");
  for (const oneTime of ["true", 1, []]) {
    assert.equal(
      assertFault(await merchant.post(URL, { oneTime, priceUnits: 5 }), 400, "invalid_request").param,
      "oneTime",
    );
  }
});

test("D14 an unknown field is refused with the closest known field", async () => {
  const merchant = await (await testApi()).openMerchant();
  const error = assertFault(await merchant.post(URL, { payoutWalet: merchant.wallet }), 400, "invalid_request");
  assert.deepEqual([error.param, error.details.nearest], ["payoutWalet", "payoutWallet"]);
  for (const field of ["status", "feeBps", "inboxAddress", "accountId", "constructor"]) {
    assert.equal(assertFault(await merchant.post(URL, { [field]: "x" }), 400, "invalid_request").param, field);
  }
});

test("D14 JSON that parsing would change silently is refused", async () => {
  const merchant = await (await testApi()).openMerchant();
  // Invalid or ambiguous JSON, and JSON that cannot be stored unchanged. The third value is the field at fault.
  const table: [string | Uint8Array, "invalid_json" | "invalid_request", param?: string][] = [
    ['{"payoutWallet":"0x1","payoutWallet":"0x2"}', "invalid_json", "payoutWallet"],
    ['{"merchantReference":"a","merchantReferenc\\u0065":"b"}', "invalid_json", "merchantReference"],
    ['{"metadata":{"a":{"b":1,"b":2}}}', "invalid_json", "metadata"],
    ['{"__proto__":{"priceUnits":1}}', "invalid_json", "__proto__"],
    ['{"metadata":{"__proto__":{}}}', "invalid_json", "metadata"],
    ['{"metadata":{"\\u005f_proto__":{}}}', "invalid_json", "metadata"],
    ['{"metadata":', "invalid_json"],
    ["\ufeff{}", "invalid_json"],
    [new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), "invalid_json"],
    ["{} {}", "invalid_json"],
    ['{"merchantReference":"\\ud800"}', "invalid_request", "merchantReference"],
    ['{"metadata":{"\\udfff":1}}', "invalid_request", "metadata"],
    ['{"merchantReference":"a\\u0000b"}', "invalid_request", "merchantReference"],
    ['{"metadata":{"a":"\\u0000"}}', "invalid_request", "metadata"],
    ['{"metadata":{"a":1e999}}', "invalid_request", "metadata"],
    ['{"metadata":{"a":12345678901234567890}}', "invalid_request", "metadata"],
    ["[]", "invalid_request"],
    ["null", "invalid_request"],
    ['"text"', "invalid_request"],
  ];
  for (const [body, code, param] of table)
    assert.equal(assertFault(await merchant.post(URL, body), 400, code).param, param, String(body));
  assert.deepEqual((await merchant.get(URL)).body.data, []);
  assert.equal(({} as Record<string, unknown>)["priceUnits"], undefined);
});

test("D13 metadata that is too deep is refused at once, and the next call works", async () => {
  const merchant = await (await testApi()).openMerchant();
  const nested = (levels: number) => `{"metadata":${'{"a":'.repeat(levels - 1)}{}${"}".repeat(levels - 1)}}`;
  for (const levels of [6, 32, 64, 7_000, 9_000]) {
    const error = assertFault(await merchant.post(URL, nested(levels)), 400, "invalid_request");
    assert.equal(error.param, "metadata");
  }
  assert.equal((await merchant.post(URL, `{"metadata":{"a":${"[".repeat(20_000)}${"]".repeat(20_000)}}}`)).status, 400);
  assert.equal((await merchant.post(URL, nested(5))).status, 201);
});

test("D13 metadata beyond its bounds is refused", async () => {
  const merchant = await (await testApi()).openMerchant();
  const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, index]));
  const arrays = (levels: number): unknown => (levels === 0 ? 1 : [arrays(levels - 1)]);
  // Exactly the byte limit in JSON, mostly in two-byte characters.
  const textOf = (bytes: number) => {
    const texts = Array.from({ length: 16 }, () => "é".repeat(500));
    const left = bytes - Buffer.byteLength(JSON.stringify({ a: texts, b: "" }));
    return { a: texts, b: "x".repeat(left) };
  };
  const refused: unknown[] = [
    [],
    "text",
    5,
    true,
    keys(51),
    { inner: keys(51) },
    { ["k".repeat(41)]: 1 },
    { a: "x".repeat(501) },
    { a: ["x".repeat(501)] },
    { a: [keys(51)] },
    { a: [{ ["k".repeat(41)]: 1 }] },
    { a: arrays(5) },
    textOf(16_385),
  ];
  for (const metadata of refused) {
    assert.equal(assertFault(await merchant.post(URL, { metadata }), 400, "invalid_request").param, "metadata");
  }
  const accepted: object[] = [
    {},
    keys(50),
    { inner: keys(50) },
    { "": "", k: 0.1, n: null },
    { ["é".repeat(40)]: "💸".repeat(500) },
    { a: arrays(4) },
    textOf(16_384),
  ];
  for (const metadata of accepted) {
    const response = await merchant.post(URL, { metadata });
    assert.deepEqual([response.status, response.body.metadata], [201, metadata]);
  }
});

test("D12 a reference has 1 to 200 printable characters", async () => {
  const merchant = await (await testApi()).openMerchant();
  const controls = ["a\nb", "a\u007fb", "a\u2028b", "a\u202eb", "a\ufff9b"];
  const unseen = ["\u200b", "a\u200eb", "a\u200fb", "a\u061cb", "\ufeffa", "a\u2060b", "a\u00adb"];
  const unassigned = ["a\u0378b", "a\uffffb"];
  for (const merchantReference of ["", "x".repeat(201), ...controls, ...unseen, ...unassigned, 5, {}]) {
    const error = assertFault(await merchant.post(URL, { merchantReference }), 400, "invalid_request");
    assert.equal(error.param, "merchantReference", JSON.stringify(merchantReference));
  }
});

test("D12 a reference may use any script and joined emoji", async () => {
  const merchant = await (await testApi()).openMerchant();
  const family = "\u{1f468}\u200d\u{1f469}\u200d\u{1f467}";
  const persian = "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645";
  const texts = [" ", "\u00a0", "💸".repeat(200), "Grüße, 7 % <b>", "العربية", "क्‍ष", "日本語", family, persian];
  for (const merchantReference of texts) {
    assert.equal((await merchant.createIntent({ merchantReference })).merchantReference, merchantReference);
  }
});

test("D16 a body needs a JSON content type and no encoding", async () => {
  const merchant = await (await testApi()).openMerchant();
  const wrong: Record<string, string | string[]>[] = [
    { "content-type": "text/plain" },
    { "content-type": "application/x-www-form-urlencoded" },
    { "content-type": "application/json; charset=latin1" },
    { "content-type": "application/json; charset=utf-8; charset=latin1" },
    { "content-type": "application/json; charset =latin1" },
    { "content-type": ["application/json", "text/plain"] },
    { "content-type": ["application/json", "application/json"] },
    { "content-type": ";;" },
    { "content-encoding": "gzip" },
    { "content-encoding": "br, identity" },
  ];
  for (const headers of wrong) assertFault(await merchant.post(URL, "{}", headers), 400, "invalid_content_type");
  for (const type of [
    "application/json",
    'Application/JSON;charset="UTF-8"',
    "application/json; version=1; charset=utf8",
  ])
    assert.equal((await merchant.post(URL, "{}", { "content-type": type })).status, 201, type);
});

test("D11 a destination that would lose the money is refused", async () => {
  const merchant = await (await testApi()).openMerchant();
  const ownInbox = (await merchant.createIntent()).inboxAddress;
  const precompile = (value: number) => `0x${value.toString(16).padStart(40, "0")}`;
  const wallets = [0, 1, 9, 0x11, 0x100].map(precompile);
  for (const payoutWallet of [...wallets, ...publishedContracts, USDC, DUSD, ownInbox]) {
    const error = assertFault(await merchant.post(URL, { payoutWallet }), 400, "unsupported_destination");
    assert.equal(error.param, "payoutWallet", payoutWallet);
  }
});

test("D11 an invalid wallet, namespace, chain or token is refused with its field's name", async () => {
  const merchant = await (await testApi()).openMerchant();
  const checksummed = (await merchant.createIntent()).payout.wallet;
  // One changed letter case breaks the checksum.
  const slipped = checksummed.replace(/[a-f]/i, (letter: string) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  );
  const table: [string, unknown][] = [
    ...[
      "",
      "0x",
      "0x12",
      `0X${merchant.wallet.slice(2)}`,
      ` ${merchant.wallet}`,
      `${merchant.wallet}0`,
      slipped,
      SOLANA_WALLET,
      5,
    ].map((wallet): [string, unknown] => ["payoutWallet", wallet]),
    ...["", "evm", "EIP155", 1].map((namespace): [string, unknown] => ["payoutNamespace", namespace]),
    ...["", "1", "31337 ", "x".repeat(33), 1.5, -1, true].map((chain): [string, unknown] => [
      "payoutChainReference",
      chain,
    ]),
    ...["", "USDC", randomAddress(), 7].map((token): [string, unknown] => ["payoutTokenAddress", token]),
  ];
  for (const [index, [field, value]] of table.entries()) {
    const caller = index < 20 ? merchant : await (await testApi()).openMerchant();
    const response = await caller.post(URL, { [field]: value });
    assert.equal(response.status, 400, `${field} ${String(value)}`);
    assert.equal(response.body.error.param, field, response.text);
  }
});

test("D11 a value without a default must be sent", async () => {
  const api = await testApi();
  const merchant = await api.openMerchant();
  const solana = { payoutNamespace: "solana", payoutChainReference: "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp" };
  assertFault(await merchant.post(URL, solana), 400, "wallet_required");
  const bare = await api.openMerchant({ hasDefaults: false });
  for (const body of [{}, { payoutWallet: randomAddress() }])
    assertFault(await bare.post(URL, body), 400, "destination_required");
});

test("D20 the shape check comes before catalogue and state", async () => {
  const merchant = await (await testApi()).openMerchant();
  const both = { payoutChainReference: "1", priceUnits: "five" };
  assert.equal(assertFault(await merchant.post(URL, both), 400, "invalid_request").param, "priceUnits");
});
