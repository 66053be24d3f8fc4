import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { signatureHeaders } from "../../src/webhook/sign.ts";
import { chooseFreePort } from "../support/freePort.ts";

// The samples of the guide, as they stand there, in a process of their own. Fastify is the real one. Express and Next.js
// are not installed: what the samples use of them is written here as their documents describe it.

const GUIDE = readFileSync(new URL("../../docs/integrate/fulfil.md", import.meta.url), "utf8");
const MODULES = fileURLToPath(new URL("../../node_modules", import.meta.url));
const KEY = Buffer.from("thirty-two bytes of a secret !!!");
const SERVERS = ["Plain Node", "Express", "Fastify", "Next.js"] as const;

/** What the guide leaves to the shop. A sequence that the worker stores is printed. */
const SHOP = `
const seen = new Set();
const states = new Map([["pi_settled", "settled"], ["pi_active", "active"], ["pi_archived", "archived"]]);
export const tributary = { getPaymentIntent: async (id) => ({ status: states.get(id) }) };
let isFree = false;
export const orders = {
  hasSeen: async (id) => seen.has(id),
  findByIntent: async (id) => (states.has(id) ? { id } : undefined),
  isWaitingFor: async (reference) => reference === "order-early",
  apply: async (eventId, { order, ship, stop }) => {
    if (order.id === "pi_active") isFree = !isFree;
    // Another event changes the active order while each second event about it is handled.
    if (order.id === "pi_active" && !isFree) return false;
    seen.add(eventId);
    return ship === (order.id === "pi_settled") && stop === (order.id === "pi_archived");
  },
  lastSequence: async () => 1,
  storeSequence: async (sequence) => console.log("stored " + sequence),
};
export const handle = async ({ id }) => console.log("handled " + id);
`;

/** Of Express: the handlers of a path in turn, raw() and sendStatus(). */
const EXPRESS = `
import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";
export default function express() {
  const paths = new Map();
  const server = createServer(async (request, response) => {
    response.sendStatus = (status) => response.writeHead(status).end();
    for (const handler of paths.get(request.url)) await new Promise((next) => handler(request, response, next));
  });
  return { post: (path, ...handlers) => paths.set(path, handlers), listen: (port) => server.listen(port, "127.0.0.1") };
}
express.raw = ({ type }) => async (request, _response, next) => {
  if (type === "*/*") request.body = await buffer(request);
  next();
};`;

/** Of Next.js: a route gets a Request and returns a Response. */
const NEXT = `
import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";
import { POST } from "./route.ts";
createServer(async (incoming, response) => {
  const body = await buffer(incoming);
  const request = new Request("http://shop.example/webhooks", { method: "POST", headers: incoming.headers, body });
  response.writeHead((await POST(request)).status).end();
}).listen(PORT, "127.0.0.1");`;

/** A service whose feed has the events 2 and 3 behind the one that the worker has. */
const SERVICE = `
import { createServer } from "node:http";
createServer((request, response) => {
  if (request.headers["last-event-id"] !== "1" && !request.url.includes("after=1")) return response.writeHead(400).end();
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const sequence of [2, 3])
    response.write(\`id: \${sequence}\\nevent: x\\ndata: \${JSON.stringify({ id: "evt_" + sequence, sequence })}\\n\\n\`);
}).listen(PORT, "127.0.0.1");`;

/** The first block of code below a heading; below the title, that of fulfil.ts. */
function sampleBelow(heading: string): string {
  const start = GUIDE.indexOf(heading);
  assert.ok(start >= 0, heading);
  return /```[jt]s\n([^]*?)```/.exec(GUIDE.slice(start))?.[1] ?? assert.fail(heading);
}

describe("the samples of the guide to fulfilment", () => {
  const folder = mkdtempSync(join(tmpdir(), "fulfil-"));
  const ports = new Map<string, number>();
  let child: ChildProcess;
  let output: AsyncIterator<string>;

  before(async () => {
    for (const name of [...SERVERS, "service"]) ports.set(name, await chooseFreePort());
    const write = (file: string, text: string, name = "") =>
      writeFileSync(
        join(folder, file),
        text.replaceAll("PORT", String(ports.get(name))).replace("3000", String(ports.get(name))),
      );
    symlinkSync(MODULES, join(folder, "node_modules"));
    write("package.json", '{ "type": "module", "imports": { "#express": "./express.js" } }');
    write("shop.js", SHOP);
    write("fulfil.ts", `import { orders, tributary } from "./shop.js";\n${sampleBelow("# Fulfil orders")}`);
    write("node.js", sampleBelow("## Plain Node"), "Plain Node");
    write("express.js", EXPRESS);
    write("shopExpress.js", sampleBelow("## Express").replace('from "express"', 'from "#express"'), "Express");
    write("shopFastify.js", sampleBelow("## Fastify"), "Fastify");
    write("route.ts", sampleBelow("## Next.js"));
    write("next.js", NEXT, "Next.js");
    write("service.js", SERVICE, "service");
    const names = `import { handle, orders } from "./shop.js";\nconst [baseUrl, apiKey] = ["http://127.0.0.1:PORT", "key"];\n`;
    write("worker.js", `${names}${sampleBelow("## Without a public address")}`, "service");
    const files = ["node", "shopExpress", "shopFastify", "next", "service"];
    const imports = files.map((file) => `await import("./${file}.js");`).join("\n");
    write("main.js", `${imports}\nconsole.log("ready");\nawait import("./worker.js");`);
    child = spawn(process.execPath, ["--no-warnings", join(folder, "main.js")], {
      env: { PATH: process.env["PATH"], WEBHOOK_SECRET: `whsec_${KEY.toString("base64")}` },
      stdio: ["ignore", "pipe", "inherit"],
    });
    output = createInterface({ input: child.stdout ?? assert.fail() })[Symbol.asyncIterator]();
    assert.equal((await output.next()).value, "ready");
  });
  after(async () => {
    child.kill("SIGKILL");
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    rmSync(folder, { recursive: true });
  });

  async function send(name: string, event: object & { id: string }, key = KEY): Promise<number> {
    // Spaces and a letter beyond ASCII: what a parser writes again has other bytes.
    const body = JSON.stringify({ ...event, note: "é" }, null, 2);
    const headers = signatureHeaders({ id: event.id, at: new Date(), body, secrets: [key] });
    const request = { method: "POST", headers: { ...headers, "content-type": "application/json" }, body };
    return (await fetch(`http://127.0.0.1:${ports.get(name)}/webhooks`, request)).status;
  }

  for (const name of SERVERS)
    test(`${name} answers by the five steps`, async () => {
      const event = (intentId: string | null, merchantReference: string | null = null) => ({
        id: `evt_${name}_${intentId}`,
        type: "payment_intent.settled",
        intentId,
        merchantReference,
      });
      assert.equal(await send(name, event("pi_settled"), Buffer.from("another secret")), 400, "a wrong signature");
      for (const intentId of ["pi_settled", "pi_settled", "pi_archived", null])
        assert.equal(await send(name, event(intentId)), 204, String(intentId));
      assert.equal(await send(name, event("pi_foreign")), 204, "an unknown id");
      assert.equal(await send(name, event("pi_own", "order-early")), 409, "the order's intent is not stored yet");
      assert.equal(await send(name, event("pi_active")), 204);
      const other = { ...event("pi_active"), id: `evt_${name}_other` };
      assert.equal(await send(name, other), 409, "another event has changed the order");
    });

  test("the worker handles what follows its last sequence, and stores each sequence behind it", async () => {
    const lines: string[] = [];
    while (lines.length < 4) lines.push((await output.next()).value ?? assert.fail());
    assert.deepEqual(lines, ["handled evt_2", "stored 2", "handled evt_3", "stored 3"]);
  });
});
