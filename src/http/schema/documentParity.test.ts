import assert from "node:assert/strict";
import { test } from "node:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import { drawn, fc } from "../../../test/support/properties.ts";
import { Fault } from "../../kernel/faults.ts";
import { buildOpenApiDocument } from "../documents/openApi/openApiDocument.ts";
import { OPERATIONS } from "../operationList.ts";
import { compileParser } from "./compileParser.ts";

// Merchants' tools read the document and know neither our keywords nor our messages. The service must accept every
// shape that the document accepts, and refuse every shape that it refuses.

const referenceValidator = new Ajv2020({ strict: false });
referenceValidator.addSchema({ ...buildOpenApiDocument("https://pay.example"), $id: "document" });

const TEXTS = [
  "",
  "a",
  "eip155",
  "solana",
  "8453",
  "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
  "a\u2028b",
  "💸".repeat(200),
];
const value = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...TEXTS, "x".repeat(101), "x".repeat(201)) },
  { weight: 3, arbitrary: fc.constantFrom(0, 1, -1, 1.5, 25_000_000, 2 ** 53 - 1, 2 ** 53) },
  { weight: 2, arbitrary: fc.constantFrom(null, true, false) },
  {
    weight: 2,
    arbitrary: fc
      .object({ maxDepth: 6, maxKeys: 3, withBigInt: false })
      .map((value) => JSON.parse(JSON.stringify(value))),
  },
  { weight: 1, arbitrary: fc.constant([]) },
);

for (const { operationId, body: schema } of OPERATIONS) {
  if (schema === undefined) continue;
  const names = [schema, ...(schema.oneOf ?? [])].flatMap(({ properties }) => Object.keys(properties ?? {}));
  const field = fc.constantFrom(...names, "namespace", "reference", "tokenAddress", "unknown");
  const object = fc.dictionary(
    field,
    fc.oneof({ weight: 5, arbitrary: value }, { weight: 1, arbitrary: fc.dictionary(field, value) }),
    { maxKeys: 4 },
  );

  test(`${operationId}: the document and the service refuse the same bodies`, () => {
    const read = compileParser(schema);
    const name = `${operationId.charAt(0).toUpperCase()}${operationId.slice(1)}Body`;
    const isValid = referenceValidator.compile({ $ref: `document#/components/schemas/${name}` });
    fc.assert(
      fc.property(fc.oneof({ weight: 9, arbitrary: object }, { weight: 1, arbitrary: value }), (body) => {
        assert.equal(isAccepted(read, body), isValid(body), JSON.stringify(body));
      }),
      { numRuns: drawn(2_500) },
    );
  });
}

function isAccepted(read: (body: unknown) => unknown, body: unknown): boolean {
  try {
    read(body);
    return true;
  } catch (error) {
    assert.ok(error instanceof Fault && error.row.status === 400, String(error));
    // Every refusal has a complete sentence.
    assert.match(error.message, /^\S.*\.$|\?$/s);
    return false;
  }
}
