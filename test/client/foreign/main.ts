import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { buildOpenApiDocument } from "../../../src/http/documents/openApi/openApiDocument.ts";

// What other people's tools make of the OpenAPI document: its linter finds nothing, and the clients of two generators
// compile strictly. The tools are installed into a temporary folder, because nothing else here needs them. Without a
// package registry this test says so and fails.

const TOOLS = {
  "@hey-api/openapi-ts": "0.99.0",
  "@redocly/cli": "2.77.0",
  "openapi-typescript": "7.13.0",
  typescript: "5.9.3",
};
const STRICT = {
  strict: true,
  noUncheckedIndexedAccess: true,
  noEmit: true,
  module: "nodenext",
  target: "es2022",
  lib: ["es2023", "dom", "dom.iterable"],
  types: [],
};
/** Uses the generated types as a merchant does, so that an empty or loose type fails. */
const USE = `import type { components, paths } from "./types.ts";
import { createPaymentIntent, type PaymentIntent } from "./hey/index.ts";

type Body = NonNullable<paths["/api/v1/intents"]["post"]["requestBody"]>["content"]["application/json"];
export const body: Body = { priceUnits: 25_000_000, oneTime: true };
export const statusOf = (intent: components["schemas"]["PaymentIntent"]): "active" | "settled" | "archived" => intent.status;
export const inboxOf = ({ inboxAddress }: PaymentIntent): string => inboxAddress;
export const create = () => createPaymentIntent({ body, headers: { "Service-Version": "2026-11-01" } });
// @ts-expect-error -- a price is a number
export const wrong: Body = { priceUnits: "5" };
`;

const folder = mkdtempSync(join(tmpdir(), "tributary-foreign-"));
try {
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module", dependencies: TOOLS }));
  writeFileSync(join(folder, "openapi.json"), JSON.stringify(buildOpenApiDocument("https://pay.example")));
  writeFileSync(join(folder, "use.ts"), USE);
  const compilerOptions = { ...STRICT, allowImportingTsExtensions: true };
  const include = ["use.ts", "types.ts", "hey/**/*.ts"];
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include }));
  run("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]);
  const lint = run("node_modules/.bin/redocly", ["lint", "openapi.json", "--format=json"]);
  const { totals } = JSON.parse(lint.slice(lint.indexOf("{"))) as { totals: { errors: number; warnings: number } };
  if (totals.errors + totals.warnings > 0) fail(`redocly finds ${JSON.stringify(totals)}:\n${lint}`);
  run("node_modules/.bin/openapi-typescript", ["openapi.json", "-o", "types.ts"]);
  run("node_modules/.bin/openapi-ts", ["-i", "openapi.json", "-o", "hey", "--no-log-file"]);
  run("node_modules/.bin/tsc", ["-p", "."]);
  console.log("redocly finds nothing; the clients of openapi-typescript and @hey-api/openapi-ts compile strictly");
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function run(program: string, args: readonly string[]): string {
  const environment = { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd: folder,
    env: environment,
    encoding: "utf8",
  });
  if (error !== undefined) throw error;
  if (status !== 0) fail(`${program} ${args.join(" ")} ended with ${status}:\n${stdout}\n${stderr}`);
  return stdout;
}

function fail(message: string): never {
  throw new Error(message);
}
