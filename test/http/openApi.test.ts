import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { basename } from "node:path";
import { test } from "node:test";
import { Validator } from "@seriousme/openapi-schema-validator";
import { computeInboxAddress } from "@tributary/inbox/address";
import { termsFromWire } from "@tributary/inbox/wire";
import { intentExample } from "../../src/http/schema/examples.ts";
import { faultRows } from "../../src/kernel/faults.ts";
import { testApi, type Json } from "../support/api.ts";
import { assertDocumented, assertShape, DOCUMENT } from "../support/assertDocumented.ts";

type Described = { path: string; method: string; operation: Json };

const all: readonly Described[] = Object.entries<Json>(DOCUMENT.paths).flatMap(([path, methods]) =>
  Object.entries<Json>(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
);

/** The router's routes below /api, from its printed tree. */
function routesOf(printed: string): string[] {
  const parents: string[] = [];
  return printed.split("\n").flatMap((line) => {
    const [, indent = "", segment, verbs] = /^([│ ]*)[├└]── (\S+?)(?: \(([A-Z, ]+)\))?$/.exec(line) ?? [];
    if (segment === undefined) return [];
    const depth = indent.length / 4;
    const path = `${parents.slice(0, depth).join("")}${segment}`;
    parents.splice(depth, parents.length, segment);
    if (verbs === undefined || !path.startsWith("/api/")) return [];
    return verbs.split(", ").map((verb) => `${verb} ${path.replace(":id(^[^/]+$)", "{id}")}`);
  });
}

test("the document and the server have the same operations", async () => {
  const { server } = await testApi();
  const routes = routesOf(server.printRoutes({ commonPrefix: false }));
  assert.deepEqual(routes.toSorted(), all.map(({ path, method }) => `${method} ${path}`).toSorted());
  const files = globSync("*/*.ts", { cwd: new URL("../../src/http/operations", import.meta.url) });
  const operations = files.filter((file) => !file.endsWith(".test.ts")).map((file) => basename(file, ".ts"));
  const described = all.map(({ operation }) => String(operation.operationId));
  assert.deepEqual(described.toSorted(), operations.toSorted());
});

test("every operation, a webhook too, has a name of its own", () => {
  const posts = Object.values<Json>(DOCUMENT.webhooks).map(({ post }) => String(post.operationId));
  assert.ok(posts.includes("onSettlementHeld"), posts.join(" "));
  const names = [...all.map(({ operation }) => String(operation.operationId)), ...posts];
  assert.deepEqual(names.toSorted(), [...new Set(names)].toSorted());
  for (const name of names) assert.match(name, /^[a-z][a-zA-Z]+$/u);
});

test("an independent validator accepts the document as OpenAPI 3.1", async () => {
  const validator = new Validator();
  const { valid, errors } = await validator.validate(structuredClone(DOCUMENT));
  assert.ok(valid, JSON.stringify(errors));
  assert.equal(validator.version, "3.1");
});

test("the document needs no key, allows any origin and names the configured base URL", async () => {
  const api = await testApi();
  const { status, headers, body } = await api.send("/openapi.json");
  assert.equal(status, 200);
  assert.equal(headers["access-control-allow-origin"], "*");
  assert.deepEqual(body, DOCUMENT);
  assert.deepEqual(body.servers, [{ url: api.world.config.baseUrl }]);
});

test("every example matches its schema", () => {
  let count = 0;
  const checkExamples = (part: Json, pointer: string) => {
    if (typeof part !== "object" || part === null) return;
    if (part.schema !== undefined) {
      const values = [
        ...("example" in part ? [part.example] : []),
        ...Object.values<Json>(part.examples ?? {}).map(({ value }) => value),
      ];
      for (const value of values) assertShape(`${pointer}/schema`, value, pointer);
      count += values.length;
    }
    for (const [name, inner] of Object.entries<Json>(part)) {
      const isExample = name === "example" || name === "examples";
      if (!isExample)
        checkExamples(inner, `${pointer}/${encodeURIComponent(name.replaceAll("~", "~0").replaceAll("/", "~1"))}`);
    }
  };
  checkExamples(DOCUMENT, "#");
  assert.ok(count > 60, `only ${count} examples`);
});

const CHECKOUT_OPERATIONS = ["updateAccount", "listPageOrigins", "replacePageOrigins"];

function firstScopeOf({ operationId, tags }: Json): string {
  if (tags.includes("Webhooks")) return "webhooks:manage";
  if (operationId === "listAuditLog") return "dashboard:read";
  return CHECKOUT_OPERATIONS.includes(operationId) ? "checkout:manage" : "payment_intents:create";
}

test("every operation documents its errors, and every error code belongs to an operation", () => {
  const documentedCodes = new Set<string>();
  for (const { operation, method } of all) {
    const statuses = Object.keys(operation.responses);
    const needed = ["400", "401", "403", "404", "413", "429", "500"];
    for (const status of needed) assert.ok(statuses.includes(status), `${operation.operationId} lacks ${status}`);
    assert.equal(operation.requestBody !== undefined, method !== "GET", operation.operationId);
    assert.deepEqual(operation.security[0], { apiKey: [firstScopeOf(operation)] });
    assert.ok(operation.summary !== "" && operation.description !== "");
    for (const status of statuses) {
      for (const code of codesOf(operation.responses[status])) {
        assert.equal(String(faultRows[code as keyof typeof faultRows].status), status, code);
        documentedCodes.add(code);
      }
    }
  }
  assert.deepEqual([...documentedCodes].toSorted(), Object.keys(faultRows).toSorted());
});

test("assertDocumented rejects an exchange that the document does not describe", async () => {
  const merchant = await (await testApi()).openMerchant();
  const response = await merchant.get("/api/v1/intents");
  const check = (change: object) => () => assertDocumented("/api/v1/intents", {}, { ...response, ...change });
  check({})();
  const { body, headers } = response;
  assert.throws(check({ status: 418 }), /undocumented status 418/);
  assert.throws(check({ body: { ...body, total: 5 } }), /total/);
  assert.throws(check({ body: { ...body, next_cursor: null } }), /next_cursor must be string/);
  assert.throws(check({ headers: { ...headers, "retry-after": "1" } }), /retry-after/);
  assert.throws(check({ headers: { ...headers, "request-id": undefined } }), /request-id/);
  const error = {
    code: "price_required",
    message: "",
    request_id: "req_" + "0".repeat(26),
    docs: "http://a/b",
    retryable: false,
  };
  assert.throws(check({ status: 400, body: { error } }), /code must be equal to one of/);
});

test("operations beyond the specification are marked as extensions", () => {
  const extensions = all.filter(({ operation }) => operation["x-extension"] === true);
  const own = [
    "GET /api/v1/intents",
    "POST /api/v1/intents",
    "GET /api/v1/intents/{id}",
    "GET /api/v1/intents/{id}/origins",
    "POST /api/v1/intents/{id}/source-inbox",
    "POST /api/v1/intents/{id}/view",
  ];
  const rest = all.filter((one) => !extensions.includes(one));
  assert.deepEqual(rest.map(({ path, method }) => `${method} ${path}`).toSorted(), own.toSorted());
});

test("D31 the example's inbox address matches its terms", () => {
  assert.equal(intentExample.inboxAddress.toLowerCase(), computeInboxAddress(termsFromWire(intentExample.inboxTerms)));
});

function codesOf(response: Json): string[] {
  const resolved =
    response.$ref === undefined ? response : DOCUMENT.components.responses[response.$ref.split("/").at(-1)];
  // A stream of events is no JSON, and has no error in it.
  const [, narrowed] = resolved.content["application/json"]?.schema.properties?.error?.allOf ?? [];
  return narrowed?.properties.code.enum ?? [];
}
