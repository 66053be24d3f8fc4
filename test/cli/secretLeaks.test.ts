import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { inspect } from "node:util";
import { loadConfig } from "../../src/config/loadConfig.ts";
import { chooseFreePort } from "../support/freePort.ts";
import { openDatabase, type Db } from "../../src/db/database.ts";
import { runCli } from "../support/cli.ts";
import { addMerchant } from "../support/merchants.ts";
import { createDatabaseOn, startOwnServer } from "../support/database.ts";
import type { PostgresServer } from "../support/postgres.ts";
import {
  chainFields,
  openInstallation,
  UNREACHABLE_CHAIN,
  type RunningService,
  type ServiceInstallation,
} from "../support/serviceInstallation.ts";
import { drawBytes } from "../support/drawBytes.ts";

// Unique secrets in every field that takes one. No error, log line or command output may contain any of them.

const POLLS_MAX = 1_200;
const POLL_MS = 100;
const drawHex = (bytes: number) => Buffer.from(drawBytes(bytes)).toString("hex");
const newSecret = () => `canary${drawHex(16)}`;
const DATABASE_PASSWORD = newSecret();
const RPC_PASSWORD = newSecret();
const RPC_KEY = newSecret();
const WS_KEY = newSecret();
const GATE_SECRET = newSecret();
const GAS_KEY = `0x${drawHex(32)}`;

/** What stands before the random part of a key or token. A widget token's random part may itself contain `_`. */
const PREFIX = /^(?:0x|wt_|trib_test_[0-9a-z]{16}_)/;

/** The secret as plain text, base64 and hex. */
function encodingsOf(secret: string): string[] {
  const bare = secret.replace(PREFIX, "");
  return [bare, Buffer.from(bare).toString("base64").slice(0, -4), Buffer.from(bare).toString("hex")];
}

function assertNoSecrets(secrets: readonly string[], said: string, where: string): void {
  for (const secret of secrets)
    for (const spelling of encodingsOf(secret)) {
      const place = said.toLowerCase().indexOf(spelling.toLowerCase());
      assert.ok(place < 0, `${where}: …${said.slice(Math.max(0, place - 200), place + 80)}…`);
    }
}

const chainOf = (fields: object) => chainFields(UNREACHABLE_CHAIN, fields);
const configOf = (fields: object) => ({
  environment: "test",
  feeRecipient: `0x${"1".repeat(40)}`,
  defaultRail: "local:usdc",
  database: { directory: "db" },
  chains: [chainOf({})],
  ...fields,
});
const url = (scheme: string, password: string) => `${scheme}://user:${password}@host.test/v2/${password}`;
const DATABASE_URL = url("postgres", DATABASE_PASSWORD);
const withChain = (fields: object) => configOf({ chains: [chainOf(fields)] });
const BARE_GAS_KEY = `a${GAS_KEY.slice(3)}`;

/** Common mistakes: a secret in the place of its name, one level too high or too low, or in a misspelled value. */
const MISCONFIGURATIONS: Readonly<Record<string, unknown>> = {
  "a database that is its URL": configOf({ database: DATABASE_URL }),
  "a database in a list": configOf({ database: [DATABASE_URL] }),
  "a database of another scheme": configOf({ database: { url: url("postgre", DATABASE_PASSWORD) } }),
  "a database's URL as a directory": configOf({ database: { directory: [DATABASE_URL] } }),
  "providers that are one text": withChain({ rpcUrls: url("https", RPC_PASSWORD) }),
  "providers as an object": withChain({ rpcUrls: { [url("https", RPC_PASSWORD)]: 1 } }),
  "a provider as an object": withChain({ rpcUrls: [{ url: url("https", RPC_PASSWORD) }] }),
  "a provider without its scheme": withChain({ rpcUrls: [`user:${RPC_PASSWORD}@host.test`] }),
  "websockets that are one text": withChain({ wsUrls: url("wss", WS_KEY) }),
  "a provider for payers, mistyped": withChain({ publicRpcUrl: url("htps", RPC_KEY) }),
  "an explorer with a password": withChain({ explorerUrl: url("https", RPC_PASSWORD) }),
  "a base URL with a password": configOf({ baseUrl: url("https", RPC_PASSWORD) }),
  "a chain that is its provider": configOf({ chains: [url("https", RPC_PASSWORD)] }),
  "a key where its variable is named": withChain({ gasKeyEnv: GAS_KEY }),
  "a key without its prefix there": withChain({ gasKeyEnv: BARE_GAS_KEY }),
  "a key where its file is named": withChain({ gasKeyEnv: undefined, gasKeyFile: GAS_KEY }),
  "a key beside it": withChain({ gasKey: GAS_KEY }),
  "a gate that is its URL": configOf({ gate: url("https", GATE_SECRET) }),
  "a gate with a password": configOf({ gate: { url: url("https", GATE_SECRET), secretEnv: "TEST_GATE_SECRET" } }),
  "a secret where its variable is named": configOf({ gate: { url: "http://gate.test", secretEnv: GATE_SECRET } }),
  "a secret with signs there": configOf({ gate: { url: "http://gate.test", secretEnv: `-${GATE_SECRET}` } }),
  "a secret where its file is named": configOf({ gate: { url: "http://gate.test", secretFile: GATE_SECRET } }),
  "a URL as a key": configOf({ [DATABASE_URL]: true }),
};
const INVALID_JSON: Readonly<Record<string, string>> = {
  "no quotes": `{"database": {"url": ${DATABASE_URL}}}`,
  "single quotes": `{"gate": {"secretFile": '${GATE_SECRET}'}}`,
  "a bare word": `{"environment": "test",\n"a": ${GATE_SECRET}}`,
  "a quote within": `{"a": "${RPC_KEY}"${RPC_KEY}"}`,
};
const CONFIGURED_SECRETS = [DATABASE_PASSWORD, RPC_PASSWORD, RPC_KEY, WS_KEY, GATE_SECRET, GAS_KEY, BARE_GAS_KEY];

test("no configuration error quotes a secret", () => {
  const folder = mkdtempSync(join(tmpdir(), "tributary-canaries-"));
  const file = join(folder, "config.json");
  const written = Object.entries(MISCONFIGURATIONS).map(([what, config]) => [what, JSON.stringify(config)] as const);
  try {
    for (const [what, content] of [...written, ...Object.entries(INVALID_JSON)]) {
      writeFileSync(file, content);
      const refusal = catchError(() => loadConfig(file, { TEST_GAS_KEY: GAS_KEY, TEST_GATE_SECRET: GATE_SECRET }));
      // A parser quotes ten characters, so the first ten characters of a secret count as the secret.
      assertNoSecrets(
        [...CONFIGURED_SECRETS, ...CONFIGURED_SECRETS.map((secret) => secret.slice(0, 10))],
        inspect(refusal),
        what,
      );
    }
    writeFileSync(file, JSON.stringify(configOf({})));
    for (const variables of [
      { TEST_GAS_KEY: `${GAS_KEY}0` },
      { TEST_GAS_KEY: GAS_KEY, TRIBUTARY_DATABASE_URL: DATABASE_URL.slice(3) },
      { TEST_GAS_KEY: GAS_KEY, PORT: DATABASE_URL },
      { TEST_GAS_KEY: GAS_KEY, TRIBUTARY_DATABSE_URL: DATABASE_URL },
    ])
      assertNoSecrets(
        CONFIGURED_SECRETS,
        inspect(catchError(() => loadConfig(file, variables))),
        Object.keys(variables).join(),
      );
  } finally {
    rmSync(folder, { recursive: true });
  }
});

function catchError(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  return assert.fail("it was accepted");
}

describe("secrets", () => {
  let server: PostgresServer;
  let provider: Server;
  let db: Db;
  let site: ServiceInstallation;
  let service: RunningService;
  let databaseUrl: string;
  let asked = 0;
  const secrets: string[] = [...CONFIGURED_SECRETS];

  before(async () => {
    server = await startOwnServer({ isDurable: true });
    // The provider fails in every way, so that each failure is logged.
    provider = createServer((request, response) => {
      asked += 1;
      const answers = [
        () => response.writeHead(404).end("Cannot POST"),
        () => response.end("<html>"),
        () => response.writeHead(401).end(JSON.stringify({ error: { code: -32000, message: "no such project" } })),
        () => request.socket.destroy(),
      ];
      answers[asked % answers.length]?.();
    });
    provider.listen(0, "127.0.0.1");
    await once(provider, "listening");
    const { port } = provider.address() as AddressInfo;
    databaseUrl = (await createDatabaseOn(server, "service")).replace("@/", `:${DATABASE_PASSWORD}@/`);
    db = await openDatabase({ url: databaseUrl });
    const host = `127.0.0.1:${port}`;
    site = await openInstallation({
      chain: UNREACHABLE_CHAIN,
      databaseUrl,
      port: await chooseFreePort(),
      config: {
        logLevel: "debug",
        gate: { url: `http://${host}`, secretEnv: "TEST_GATE_SECRET" },
        chains: [
          chainOf({
            rpcUrls: [
              `http://rpc:${RPC_PASSWORD}@${host}/v2/${RPC_KEY}?key=${RPC_KEY}`,
              `http://127.0.0.1:1/${RPC_KEY}`,
            ],
            wsUrls: [`ws://rpc:${RPC_PASSWORD}@${host}/${WS_KEY}`],
            gate: "remote",
            pollMs: 100,
          }),
        ],
      },
      variables: { TEST_GATE_SECRET: GATE_SECRET, TEST_GAS_KEY: GAS_KEY },
    });
    service = await site.start();
  });
  after(async () => {
    await service.kill();
    await db.close();
    provider.closeAllConnections();
    provider.close();
    await Promise.all([server.remove(), site.remove()]);
  });

  test("no error response repeats a secret of its request, and no log line contains one", async () => {
    const { apiKey } = await addMerchant(db, { chainReference: String(UNREACHABLE_CHAIN.chainId) });
    const wrongKey = `${apiKey.slice(0, -32)}${drawHex(16)}`;
    const headers = { authorization: `Bearer ${apiKey}`, "service-version": "2026-11-01" };
    const json = { ...headers, "content-type": "application/json" };
    const post = (path: string, body: string, more: object = {}) =>
      fetch(`${site.baseUrl}${path}`, { method: "POST", headers: { ...json, ...more }, body });
    const get = (path: string, more: object = {}) =>
      fetch(`${site.baseUrl}${path}`, { headers: { ...headers, ...more } });
    const created = (await (await post("/api/v1/intents", "{}")).json()) as { intentId: string; widgetToken: string };
    const { intentId, widgetToken } = created;
    const wrongToken = `${widgetToken.slice(0, -20)}${drawHex(10)}`;
    secrets.push(apiKey, wrongKey, widgetToken, wrongToken);
    const text = JSON.stringify({ kept: apiKey, widgetToken });
    const answers = await Promise.all([
      get("/api/v1/intents", { authorization: `Bearer ${wrongKey}` }),
      get("/api/v1/intents", { authorization: apiKey }),
      get("/api/v1/intents", { authorization: `Basic ${apiKey}` }),
      get("/api/v1/intents", { authorization: `Bearer ${widgetToken}` }),
      get("/api/v1/intents", { "service-version": apiKey }),
      get(`/api/v1/intents?limit=${apiKey}`),
      get(`/api/v1/intents?cursor=${widgetToken}`),
      get(`/api/v1/intents/${apiKey}`),
      get(`/api/v1/${apiKey}?key=${apiKey}`),
      get(`/api/v1/intents/${intentId}/${widgetToken}`),
      get(`/c/${widgetToken}`),
      get(`/c/${intentId}/state`, { cookie: `session=${widgetToken}` }),
      post("/api/v1/intents", `{"payoutWallet": "${apiKey}"}`),
      post("/api/v1/intents", `{"payoutNamespace": "${apiKey}", "metadata": ${text}}`),
      post("/api/v1/intents", `{"priceUnits": ${text}}`),
      post("/api/v1/intents", `{"merchantReference": "\\u0007${apiKey}"}`),
      post("/api/v1/intents", `{"a": ${apiKey}`),
      post("/api/v1/intents", text.repeat(2_000)),
      post("/api/v1/intents", text, { "content-type": apiKey }),
      post("/api/v1/intents", text, { "idempotency-key": `${apiKey}${"x".repeat(300)}` }),
      post(`/api/v1/intents/${intentId}/source-inbox`, JSON.stringify({ chainId: UNREACHABLE_CHAIN.chainId })),
      post(`/api/v1/intents/${intentId}/view`, text),
      post(`/c/${intentId}/session`, JSON.stringify({ widgetToken: wrongToken })),
      post(`/c/${intentId}/session`, JSON.stringify({ widgetToken: apiKey.repeat(9) })),
    ]);
    for (const [index, answer] of answers.entries()) {
      assert.ok(answer.status >= 400, `${index}: ${answer.status}`);
      assertNoSecrets(secrets, inspect([...answer.headers]) + (await answer.text()), `answer ${index}`);
    }
    assertNoSecrets(
      secrets,
      await rawAnswer(site.baseUrl, `GET /${apiKey} HTTP/9.9\r\nauthorization ${apiKey}\r\n\r\n`),
      "raw",
    );
    // The log arrives through a pipe.
    for (let polls = 0; polls < POLLS_MAX && !service.output().includes('"level":"warn"'); polls += 1)
      await delay(POLL_MS);
    assert.match(service.output(), /"level":"warn"/);
    assertNoSecrets(secrets, service.output(), "log");
  });

  test("no command prints a secret, on success or failure", async () => {
    const lost = `postgres://user:${DATABASE_PASSWORD}@127.0.0.1:1/lost`;
    const [, wrongKey = "", , wrongToken = ""] = secrets.slice(CONFIGURED_SECRETS.length);
    const runs: [line: string, database: string][] = [
      ...["doctor", "watch status", "serve --check", "hub status"].map((line): [string, string] => [line, databaseUrl]),
      ["serve --check", lost],
      ["doctor", lost.replace(":1/", ":999999/")],
      ["serve --check --json", `${lost}?sslmode=no-verify&sslcert=/nowhere`],
      [`keys revoke ${wrongKey} --json`, databaseUrl],
      [`intents show ${wrongToken}`, databaseUrl],
      [`pay ${site.baseUrl}/c/pi_0#${wrongToken}`, databaseUrl],
    ];
    const codes = await Promise.all(
      runs.map(async ([line, database]) => {
        const environment = { ...site.environment, TRIBUTARY_DATABASE_URL: database };
        const { code, out, err } = await runCli([...line.split(" "), "--config", site.file], environment);
        assert.notEqual(out + err, "", line);
        assertNoSecrets(secrets, out + err, line);
        return code;
      }),
    );
    assert.ok(codes.includes(0) && codes.includes(1) && codes.includes(2), codes.join());
    assertNoSecrets(secrets, service.output(), "log");
  });
});

async function rawAnswer(baseUrl: string, sent: string): Promise<string> {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect({ host: hostname, port: Number(port) });
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => chunks.push(chunk));
  socket.end(sent);
  await once(socket, "close");
  return Buffer.concat(chunks).toString();
}
