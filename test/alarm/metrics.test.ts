import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { after, before, describe, test } from "node:test";
import { pino } from "pino";
import { request } from "undici";
import { updateAlarms } from "../../src/alarm/updateAlarms.ts";
import { assignEventSequences } from "../../src/event/assignEventSequences.ts";
import { thisHost } from "../../src/kernel/alarm/hostMetrics.ts";
import { renderMetrics } from "../../src/metrics/metrics.ts";
import { startMetricsServer } from "../../src/metrics/metricsServer.ts";
import { recordMilestone } from "../../src/metrics/recordMilestone.ts";
import { openJsonLog } from "../../src/operator/process/logs.ts";
import { openRoad, type Road } from "../support/road.ts";

const SERIES_MAX_PER_CHAIN = 40;
const SERIES_MAX = 1_500;

describe("metrics and logs", () => {
  let road: Road;
  let lines: Record<string, unknown>[] = [];
  const log = pino({ level: "info" }, { write: (line: string) => void lines.push(JSON.parse(line) as never) });

  before(async () => {
    road = await openRoad({ log });
  });
  after(() => road.close());

  test("every metric of the dashboard, the alert rules and the page exists, and the page names all of ours", async () => {
    const world = { ...road.world, hostMetrics: thisHost };
    Object.assign(road.world.config, { metrics: undefined });
    const intent = await road.create();
    await road.pay(intent, 10_000n);
    await road.settle();
    for (const event of (await assignEventSequences(world)).events) recordMilestone(world, event);
    await updateAlarms(world);
    const startedAtMs = performance.now();
    const { text } = await renderMetrics(world);
    // A scrape gives up after ten seconds.
    assert.ok(performance.now() - startedAtMs < 10_000);
    const names = new Set([...text.matchAll(/^# TYPE (\w+) /gm)].map(([, name]) => name ?? ""));
    const ours = [...names].filter((name) => name.startsWith("tributary_"));
    const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
    for (const path of ["config/monitoring/grafana.json", "config/monitoring/alerts.yml", "docs/operate/metrics.md"]) {
      const used = [...read(path).matchAll(/\b(?:tributary|nodejs)_\w+/g)].map(([name]) =>
        name.replace(/_(?:bucket|count)$/, ""),
      );
      assert.ok(used.length > 5, path);
      for (const name of used) assert.ok(names.has(name), `${path} uses ${name}`);
    }
    for (const name of ours) assert.ok(read("docs/operate/metrics.md").includes(`\`${name}\``), `${name} in the page`);
    const chain = road.chain.caip2;
    assert.match(text, new RegExp(`tributary_build_info\\{version="[\\d.]+",node="v\\d+`));
    assert.match(text, new RegExp(`tributary_settle_seconds_count\\{chain="${chain}"\\} 1`));
    assert.match(text, new RegExp(`tributary_gas_settlements_left\\{chain="${chain}"\\} [1-9]`));
    const series = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
    const perChain = series.filter((line) => line.includes(chain)).length;
    assert.ok(perChain <= SERIES_MAX_PER_CHAIN, `${perChain} series of one chain`);
    assert.ok(series.length - perChain + 20 * perChain <= SERIES_MAX);
  });

  test("a payment leaves one line for each milestone at info", async () => {
    lines = [];
    const intent = await road.create();
    await road.pay(intent, 10_000n);
    await road.settle();
    for (const event of (await assignEventSequences(road.world)).events) recordMilestone(road.world, event);
    assert.deepEqual(
      lines.filter((line) => line["intent"] === intent.id).map(({ event, level }) => [event, level]),
      ["payment_intent.created", "deposit.counted", "payment_intent.paid", "settlement.landed"].map((event) => [
        event,
        30,
      ]),
    );
  });

  test("metrics have a port of their own", async () => {
    const server = await startMetricsServer(road.world, { host: "127.0.0.1", port: 0 });
    try {
      const { port } = server.server.address() as AddressInfo;
      const { statusCode, headers, body } = await request(`http://127.0.0.1:${port}/metrics`);
      assert.equal(statusCode, 200);
      assert.match(String(headers["content-type"]), /^text\/plain/);
      assert.match(await body.text(), /^tributary_chain_scanned_block/m);
    } finally {
      await server.close();
    }
  });
});

test("JSON logs have level words and no secrets", () => {
  const written: string[] = [];
  const log = openJsonLog("debug", { write: (line) => void written.push(line) });
  const secret = "5d2c9a-secret";
  log.info(
    { gasKey: secret, chain: { gasKey: secret }, apiKey: secret, request: { headers: { authorization: secret } } },
    "x",
  );
  log.error({ widgetToken: secret, page: { widgetToken: secret }, input: { apiKey: secret } }, "y");
  log.warn("z");
  assert.deepEqual(
    written.map((line) => (JSON.parse(line) as { level: string }).level),
    ["info", "error", "warn"],
  );
  for (const line of written)
    assert.match((JSON.parse(line) as { time: string }).time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.ok(!written.join("").includes(secret));
});
