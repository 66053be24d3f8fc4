import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { findPort } from "../../src/cli/dev/port.ts";
import { runCli, runUnread, startDevProcess, temporaryFolder, type DevProcess } from "../support/cli.ts";

// What an accountant and an operator type, beside a world that has settled a payment.

const folder = temporaryFolder();
const variables = { TRIBUTARY_HOME: folder.path };

describe("the ledger from the command line", () => {
  let dev: DevProcess;
  before(async () => {
    dev = await startDevProcess([], { ...variables, PORT: String(await findPort("127.0.0.1", 0)) });
    const demo = await runCli(["demo"], variables);
    assert.equal(demo.code, 0, demo.err);
  });
  after(async () => {
    dev.child.kill("SIGTERM");
    await dev.ended;
    folder.remove();
  });

  test("doctor --ledger names every check, and ends well", async () => {
    const run = await runCli(["doctor", "--ledger"], variables);
    assert.equal(run.code, 0, run.out);
    assert.match(run.out, /posting-adds-up +holds/);
    assert.match(run.out, /USDC in inboxes +\d+ hold what the ledger says/);
    const asJson = await runCli(["doctor", "--ledger", "--json"], variables);
    const findings = JSON.parse(asJson.out) as { what: string; verdict: string; rows: unknown[] }[];
    assert.ok(findings.length > 20);
    assert.deepEqual(new Set(findings.map(({ verdict }) => verdict)), new Set(["right"]));
  });

  for (const words of [
    ["events", "tail"],
    ["watch", "status", "--follow", "--json"],
    ["ledger", "export"],
  ]) {
    test(`${words.join(" ")} ends when nobody reads it any more`, async () => {
      assert.deepEqual(await runUnread(words, variables), { code: 0, err: "" });
    });
  }

  test("ledger export writes the same entries as CSV and as JSON lines, and no file twice", async () => {
    const csv = await runCli(["ledger", "export"], variables);
    const [header = "", ...lines] = csv.out.trimEnd().split("\n");
    assert.match(header, /^posting,place,bookedAt,account,asset,amountUnits,/);
    const file = join(folder.path, "books.jsonl");
    const jsonl = await runCli(["ledger", "export", "--format", "jsonl", "--out", file], variables);
    assert.deepEqual([jsonl.code, jsonl.out], [0, ""]);
    const entries = readFileSync(file, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, string>);
    assert.deepEqual(
      entries.map((entry) => Object.values(entry).join(",")),
      lines,
    );
    assert.equal(
      entries.reduce((sum, entry) => sum + BigInt(entry["amountUnits"] ?? ""), 0n),
      0n,
    );
    writeFileSync(file, "kept");
    const again = await runCli(["ledger", "export", "--out", file], variables);
    assert.equal(again.code, 1);
    assert.match(again.err, /cannot be written/);
    assert.equal(readFileSync(file, "utf8"), "kept");
  });

  test("what cannot be a format or a time is refused in one sentence", async () => {
    const format = await runCli(["ledger", "export", "--format", "xml"], variables);
    assert.deepEqual([format.code, format.err], [2, "error: --format is csv or jsonl, not xml.\n"]);
    const time = await runCli(["ledger", "export", "--from", "2026-02-31x"], variables);
    assert.equal(time.code, 1);
    assert.match(time.err, /from must be a day such as/);
  });

  test("ledger balances add up to nothing in each asset", async () => {
    const { out } = await runCli(["ledger", "balances", "--json"], variables);
    const balances = JSON.parse(out) as { asset: string; units: string }[];
    for (const [asset, of] of Map.groupBy(balances, (balance) => balance.asset))
      assert.equal(
        of.reduce((sum, { units }) => sum + BigInt(units), 0n),
        0n,
        asset,
      );
  });
});
