import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { runCli, runWithClosedStdout } from "../support/cli.ts";
import { useDevWorld } from "../support/devWorld.ts";

// The ledger commands for accountants and operators, on a dev world with settled payments.

describe("ledger commands", () => {
  const { folder, variables } = useDevWorld();
  before(async () => {
    const demo = await runCli(["demo"], variables);
    assert.equal(demo.code, 0, demo.err);
  });

  test("doctor --ledger lists every check, and all pass", async () => {
    const run = await runCli(["doctor", "--ledger"], variables);
    assert.equal(run.code, 0, run.out);
    assert.match(run.out, /posting-sums-to-zero +holds/);
    assert.match(run.out, /USDC in inboxes +\d+ match the ledger/);
    const asJson = await runCli(["doctor", "--ledger", "--json"], variables);
    const findings = JSON.parse(asJson.out) as { what: string; verdict: string; rows: unknown[] }[];
    assert.ok(findings.length > 20);
    assert.deepEqual(new Set(findings.map(({ verdict }) => verdict)), new Set(["ok"]));
  });

  for (const words of [
    ["events", "tail"],
    ["watch", "status", "--follow", "--json"],
    ["ledger", "export"],
  ]) {
    test(`${words.join(" ")} ends when its reader closes the pipe`, async () => {
      assert.deepEqual(await runWithClosedStdout(words, variables), { code: 0, err: "" });
    });
  }

  test("ledger export writes the same entries as CSV and as JSON lines, and never overwrites a file", async () => {
    const readCsv = async () => (await runCli(["ledger", "export"], variables)).out;
    let [csv, file, exports] = [await readCsv(), "", 0];
    // The world may still book what the demo has paid, so the books must be the same before and after.
    for (let isSame = false; !isSame;) {
      exports += 1;
      file = join(folder, `books-${exports}.jsonl`);
      const jsonl = await runCli(["ledger", "export", "--format", "jsonl", "--out", file], variables);
      const written = readFileSync(file, "utf8").trimEnd().split("\n").length;
      assert.deepEqual([jsonl.code, jsonl.out, jsonl.err], [0, "", `Wrote ${written} entries to ${file}.\n`]);
      const later = await readCsv();
      isSame = later === csv;
      csv = later;
    }
    const [header = "", ...lines] = csv.trimEnd().split("\n");
    assert.match(header, /^posting,place,bookedAt,account,asset,amountUnits,/);
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
    assert.deepEqual([again.code, again.err], [1, `error: ${file} already exists: name a new file in --out.\n`]);
    assert.equal(readFileSync(file, "utf8"), "kept");
  });

  test("an invalid format or time fails with one sentence", async () => {
    const format = await runCli(["ledger", "export", "--format", "xml"], variables);
    assert.deepEqual([format.code, format.err], [2, "error: --format must be csv or jsonl, not xml.\n"]);
    for (const [option, typed] of [
      ["--from", "yesterday"],
      ["--from", "2026-02-31"],
      ["--to", "2026-11-01T25:00Z"],
      ["--to", "0000-01-01"],
    ] as const) {
      const { code, out, err } = await runCli(["ledger", "export", option, typed], variables);
      assert.deepEqual([code, out], [2, ""], "not even a header");
      assert.match(
        err,
        new RegExp(`^error: ${option} must be a day such as 2026-11-01, or a time .*, not ${typed}\\.\n$`),
      );
    }
    const empty = await runCli(["ledger", "export", "--from", "2026-11-02", "--to", "2026-11-02"], variables);
    assert.deepEqual([empty.code, empty.out, empty.err], [2, "", "error: --from must be before --to.\n"]);
    const path = join(folder, "no", "such", "folder.csv");
    const unwritable = await runCli(["ledger", "export", "--out", path], variables);
    assert.deepEqual(
      [unwritable.code, unwritable.err],
      [1, `error: ${path} cannot be written: the folder ${join(folder, "no", "such")} does not exist.\n`],
    );
  });

  for (const typed of ["nope", "fee", "inbox:*", "payout:word", "unseen:", "suspense:here"]) {
    test(`--account ${typed} is rejected, and no file is created`, async () => {
      const file = join(folder, "none.csv");
      const { code, out, err } = await runCli(["ledger", "export", "--account", typed, "--out", file], variables);
      assert.deepEqual([code, out], [1, ""]);
      assert.match(err, /^error: There is no account (\S+): give acct_…, inbox:pi_…, payer:world, .*\.\n$/);
      assert.equal(/no account (\S+):/.exec(err)?.[1], typed);
      assert.ok(!existsSync(file));
    });
  }

  test("an account without entries gives an empty export and a note", async () => {
    for (const typed of ["loss:reorg", "unseen:eip155:900001", "hub:eip155:1"]) {
      const { code, out, err } = await runCli(["ledger", "export", "--format", "jsonl", "--account", typed], variables);
      assert.deepEqual([code, out, err], [0, "", "No entries match.\n"], typed);
    }
    const { code, err } = await runCli(
      ["ledger", "export", "--account", "inbox:pi_00000000000000000000000000"],
      variables,
    );
    assert.equal(code, 1);
    assert.match(err, /^error: No such intent( at http:\/\/\S+)?\.\n$/);
    const fees = await runCli(["ledger", "export", "--account", "fee:platform"], variables);
    assert.deepEqual([fees.code, fees.err], [0, ""]);
    assert.match(fees.out, /,fee:platform,/);
  });

  test("the ledger balances of each asset sum to zero", async () => {
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
