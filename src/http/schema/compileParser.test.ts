import assert from "node:assert/strict";
import { test } from "node:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import { Fault } from "../../kernel/faults.ts";
import { OPERATIONS } from "../operationList.ts";
import { COMPONENTS } from "./components.ts";
import { compileParser } from "./compileParser.ts";
import { compileQueryParser } from "./queryParser.ts";

function compileBodyParser(operationId: string) {
  const { body = {} } = OPERATIONS.find((operation) => operation.operationId === operationId) ?? {};
  return compileParser(body);
}

function expectFault(read: (value: never) => unknown, value: unknown): Fault {
  try {
    read(value as never);
  } catch (error) {
    assert.ok(error instanceof Fault, String(error));
    return error;
  }
  return assert.fail(`accepted: ${JSON.stringify(value)}`);
}

const METADATA =
  "metadata must be an object of at most 16384 bytes and 5 levels, with at most 50 keys a level, keys of at most 40 characters and strings of at most 500.";
const NAMES = "send either chainId, or namespace, reference and mint.";

test("a fault names the field and the valid form", () => {
  const table: [operationId: string, body: unknown, message: string][] = [
    ["createPaymentIntent", [], "The body must be a JSON object."],
    ["createPaymentIntent", { priceUnits: "5" }, "priceUnits must be a whole number from 1 to 9007199254740991."],
    ["createPaymentIntent", { priceUnits: 0 }, "priceUnits must be a whole number from 1 to 9007199254740991."],
    ["createPaymentIntent", { oneTime: 1 }, "oneTime must be true or false."],
    ["createPaymentIntent", { oneTime: true }, "priceUnits is required for a one-time intent."],
    ["createPaymentIntent", { oneTime: true, priceUnits: null }, "priceUnits is required for a one-time intent."],
    [
      "createPaymentIntent",
      { merchantReference: "a\nb" },
      "merchantReference must be a string of 1 to 200 printable characters.",
    ],
    ["createPaymentIntent", { payoutWallet: "" }, "payoutWallet must be a string of 1 to 100 characters."],
    ["createPaymentIntent", { payoutNamespace: "evm" }, "payoutNamespace must be eip155 or solana."],
    [
      "createPaymentIntent",
      { payoutChainReference: "a b" },
      "payoutChainReference must be a chain id, or 1 to 32 letters, digits, hyphens or underscores.",
    ],
    ["createPaymentIntent", { metadata: { a: { b: "x".repeat(501) } } }, METADATA],
    ["createPaymentIntent", { metadata: [] }, METADATA],
    [
      "createPaymentIntent",
      { payoutWalet: "0x" },
      '"payoutWalet" is not a field of this request. Did you mean payoutWallet?',
    ],
    ["archivePaymentIntent", { why: "so" }, '"why" is not a field of this request. The request has no fields.'],
    ["createIntentSourceInbox", {}, `chainId is required: ${NAMES}`],
    ["createIntentSourceInbox", { chainId: 1, mint: "x" }, `chainId excludes the other fields: ${NAMES}`],
    ["createIntentSourceInbox", { namespace: "solana", reference: "x" }, `mint is required: ${NAMES}`],
    ["createIntentSourceInbox", { chainId: 1.5 }, "chainId must be a whole number from 1 to 9007199254740991."],
    ["createIntentSourceInbox", { chain: 1 }, '"chain" is not a field of this request. Did you mean chainId?'],
    [
      "recordIntentView",
      { selection: { namespace: "eip155" } },
      "selection.reference is required with namespace and tokenAddress.",
    ],
    [
      "recordIntentView",
      { selection: { namespace: "eip155", reference: null, tokenAddress: "x" } },
      "selection.reference is required and must be a string of 1 to 100 characters.",
    ],
  ];
  for (const [operationId, body, message] of table) {
    assert.equal(expectFault(compileBodyParser(operationId), body).message, message, JSON.stringify(body));
  }
});

test("a null means the same as a missing field, and is passed on unchanged", () => {
  const body = { merchantReference: null, metadata: null, priceUnits: null, oneTime: null, payoutWallet: null };
  assert.equal(compileBodyParser("createPaymentIntent")(body), body);
  assert.ok(compileBodyParser("createIntentSourceInbox")({ chainId: 1, namespace: null, mint: null }));
  assert.ok(compileBodyParser("recordIntentView")({ selection: null }));
});

test("whole numbers of a query have one notation, and a default replaces a missing one", () => {
  const read = compileQueryParser({
    limit: { type: "integer", minimum: 1, maximum: 100, default: 10 },
    cursor: { type: "string" },
  });
  assert.deepEqual(read({ limit: "7" }), { limit: 7 });
  assert.match(
    expectFault(read, { limit: "7", more: "x" }).message,
    /^"more" is not a query parameter of this request\./,
  );
  assert.deepEqual(read({ cursor: "7" }), { limit: 10, cursor: "7" });
  for (const limit of ["", "07", "1e1", "+7", " 7", "7.0", "101", "9".repeat(30)]) {
    assert.equal(expectFault(read, { limit }).message, "limit must be a whole number from 1 to 100.", limit);
  }
  assert.equal(expectFault(read, { cursor: ["a", "b"] }).message, "cursor must be given once.");
});

test("every schema is valid JSON Schema", () => {
  const judge = new Ajv2020({ strict: false });
  const bodies = OPERATIONS.map(({ operationId, body = {} }) => [operationId, body] as const);
  const queries = OPERATIONS.flatMap(({ operationId, query = {} }) =>
    Object.entries(query).map(([name, schema]) => [`${operationId} ${name}`, schema] as const),
  );
  for (const [name, schema] of [...bodies, ...queries, ...Object.entries(COMPONENTS)]) {
    assert.ok(judge.validateSchema(schema), `${name}: ${judge.errorsText()}`);
  }
});
