import { request as httpRequest, type IncomingMessage } from "node:http";
import { once } from "node:events";
import process from "node:process";
import { parseArgs } from "node:util";
import { openDatabase } from "../../src/db/database.ts";
import { migrate } from "../../src/db/migrate.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { chooseFreePort } from "../support/freePort.ts";
import { addMerchant } from "../support/merchants.ts";
import { INSPECTED, openMemoryGauge, type MemoryGauge } from "./memoryGauge.ts";
import { startPostgres } from "../support/postgres.ts";
import { openInstallation, UNREACHABLE_CHAIN } from "../support/serviceInstallation.ts";

// What strangers without a credential, and holders of one payment's link, cost the process and other payers. Addresses
// come from X-Forwarded-For, as behind a proxy of the operator.

const REQUESTS = 4_000;
const USAGE = `Usage: npm run bench -- floods [--requests=${REQUESTS}]`;
const PAYER = "198.51.100.7";
const STRANGER = "203.0.113.9";
/** Somebody else, with the link of a payment. */
const GUEST = "203.0.113.200";
const LONG_ID = 15_000;
const STREAMS = 200;
const STREAMS_A_SESSION = 5;
/** Floods of each kind. The first ones compile the code and size the heap; what a stranger can grow grows with each. */
const FLOODS = 5;
/** Of the last two floods together. Kept keys of 15,000 characters would take 120 MB. */
const GROWTH_MB_MAX = 3;
const IN_FLIGHT = 16;

type Answer = { status: number; headers: IncomingMessage["headers"]; text: string };
type Sent = { method?: string; headers?: Record<string, string>; body?: object; from?: string };
type Target = { port: number; gauge: MemoryGauge };

export async function benchFloods(): Promise<void> {
  const { values } = parseArgs({
    args: process.argv.slice(3),
    options: { requests: { type: "string", default: String(REQUESTS) }, help: { type: "boolean" } },
  });
  if (values.help) return console.log(USAGE);
  const server = await startPostgres(undefined, { isDurable: true });
  const databaseUrl = server.urlOf("postgres");
  const db = await openDatabase({ url: databaseUrl });
  await migrate(db, { appliedAt: systemClock.now() });
  const port = await chooseFreePort();
  const config = { trustedProxies: ["127.0.0.1"] };
  const site = await openInstallation({ chain: UNREACHABLE_CHAIN, databaseUrl, port, pollMs: 60_000, config });
  const { apiKey } = await addMerchant(db, { chainReference: String(UNREACHABLE_CHAIN.chainId) });
  const service = await site.start({ variables: { NODE_OPTIONS: INSPECTED } });
  const gauge = await openMemoryGauge(service.output());
  try {
    const target = { port, gauge };
    const headers = { authorization: `Bearer ${apiKey}`, "service-version": "2026-11-01" };
    const created = await send(target, "/api/v1/intents", { method: "POST", headers, body: {} });
    const payment = JSON.parse(created.text) as Payment;
    await floodIds(target, Number(values.requests));
    await lockOut(target, payment, Number(values.requests));
    await floodStreams(target, payment);
  } finally {
    gauge.close();
    await service.stop();
    await db.close();
    await Promise.all([site.remove(), server.remove()]);
  }
}

type Payment = { intentId: string; widgetToken: string };

/** Texts of any length in the place of an id, other ones in each flood. */
async function floodIds(target: Target, requests: number): Promise<void> {
  const { growthMb, sizes } = await repeatFlood(target, async (flood) => {
    await repeat(requests, (number) =>
      send(target, `/c/${String(flood * requests + number).padEnd(LONG_ID, "a")}`, { from: STRANGER }),
    );
  });
  report(growthMb < GROWTH_MB_MAX, `${requests} ids of ${LONG_ID} characters: living memory ${sizes}`);
}

/** Requests for a payment by its id alone, until they are refused. */
async function lockOut(target: Target, { intentId, widgetToken }: Payment, requests: number): Promise<void> {
  let refused = 0;
  const { growthMb, sizes } = await repeatFlood(target, async () => {
    const answers = await repeat(requests, () => send(target, `/c/${intentId}`, { from: STRANGER }));
    await repeat(requests, () => openSession(target, { intentId, widgetToken: "wt_wrong" }, STRANGER));
    refused = answers.filter(({ status }) => status === 429).length;
  });
  const page = await send(target, `/c/${intentId}`, { from: PAYER });
  const session = await openSession(target, { intentId, widgetToken }, PAYER);
  report(
    page.status === 200 && session.status === 204 && growthMb < GROWTH_MB_MAX,
    `${requests} requests of a stranger, ${refused} refused: the payer gets ${page.status} and ${session.status}; living memory ${sizes}`,
  );
}

/** Runs a flood several times. Returns by how much memory grew in the last two, and its sizes after each. */
async function repeatFlood(
  target: Target,
  flood: (number: number) => Promise<void>,
): Promise<{ growthMb: number; sizes: string }> {
  const sizes: number[] = [];
  for (let number = 0; number < FLOODS; number += 1) {
    await flood(number);
    sizes.push(await target.gauge.livingMb());
  }
  const growthMb = (sizes.at(-1) ?? Number.NaN) - (sizes.at(-3) ?? Number.NaN);
  return { growthMb, sizes: `${sizes.map((size) => size.toFixed(1)).join(", ")} MB after each of ${FLOODS}` };
}

/** Streams of one payment by somebody who has its link. */
async function floodStreams(target: Target, payment: Payment): Promise<void> {
  let open = 0;
  for (let count = 0; count < STREAMS; count += STREAMS_A_SESSION) {
    const cookie = cookieOf(await openSession(target, payment, GUEST));
    for (let stream = 0; stream < STREAMS_A_SESSION; stream += 1) {
      const response = await openStream(target, payment, { cookie, from: `203.0.113.${count % 250}` });
      if (response.statusCode !== 200) continue;
      open += 1;
      response.once("close", () => (open -= 1));
    }
  }
  const cookie = cookieOf(await openSession(target, payment, PAYER));
  const own = await openStream(target, payment, { cookie, from: PAYER });
  const [first] = (await once(own, "data")) as [Buffer];
  report(
    own.statusCode === 200 && String(first).startsWith("retry:") && open > 0 && open <= 20,
    `${STREAMS} streams of one payment: ${open} stay open, the payer's gets ${own.statusCode}`,
  );
  own.destroy();
}

function report(ok: boolean, line: string): void {
  console.log(`${ok ? "ok  " : "FAIL"} ${line}`);
  if (!ok) process.exitCode = 1;
}

async function repeat(times: number, work: (number: number) => Promise<Answer>): Promise<Answer[]> {
  const answers: Answer[] = [];
  let next = 0;
  const run = async () => {
    while (next < times) answers.push(await work(next++));
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, run));
  return answers;
}

function openSession(target: Target, { intentId, widgetToken }: Payment, from: string): Promise<Answer> {
  return send(target, `/c/${intentId}/session`, { method: "POST", body: { widgetToken }, from });
}

function cookieOf({ headers }: Answer): string {
  return String(headers["set-cookie"]).split(";")[0] ?? "";
}

async function openStream(
  { port }: Target,
  { intentId }: Payment,
  { cookie, from }: { cookie: string; from: string },
): Promise<IncomingMessage> {
  const headers = { cookie, "x-forwarded-for": from };
  const sent = httpRequest({ port, path: `/c/${intentId}/events`, headers }).end();
  sent.on("error", () => {});
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  response.on("error", () => {}).resume();
  return response;
}

async function send({ port }: Target, path: string, { method = "GET", headers = {}, body, from = PAYER }: Sent = {}) {
  const json = body === undefined ? {} : { "content-type": "application/json" };
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { ...headers, ...json, "x-forwarded-for": from },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, headers: Object.fromEntries(response.headers), text: await response.text() };
}
