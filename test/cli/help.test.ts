import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { runCli, runWithClosedStdout } from "../support/cli.ts";

const overview = await runCli(["--help"]);
const commands = overview.out
  .split("\n")
  .filter((line) => /^ {2}[a-z]/.test(line))
  .map((line) => line.trim().split(/ {2,}/)[0] ?? "");

test("the overview names the commands, and typing nothing shows it and fails", async () => {
  assert.equal(overview.code, 0);
  for (const name of ["dev", "serve", "demo", "pay", "accounts create", "keys revoke", "intents show", "events tail"]) {
    assert.ok(commands.includes(name), name);
  }
  const nothing = await runCli([]);
  assert.deepEqual([nothing.code, nothing.out], [2, overview.out]);
});

for (const name of commands) {
  test(`tributary ${name} --help shows how it is typed, every option and an example`, async () => {
    const { code, out, err } = await runCli([...name.split(" "), "--help"]);
    assert.deepEqual([code, err], [0, ""]);
    assert.match(out, new RegExp(`^Usage: tributary ${name}`, "m"));
    assert.match(out, /^ {2}--json +\S/m);
    assert.match(out, new RegExp(`^Examples?:\\n.*tributary ${name}`, "m"));
    assert.ok(
      out.split("\n").every((line) => line.length <= 140),
      "no line runs out of the window",
    );
    assert.ok(!out.includes("\u001b"), "no colours where nobody watches");
  });
}

for (const words of [["--version"], ["-v"], ["version"]]) {
  test(`tributary ${words.join(" ")} prints the version of the package`, async () => {
    const manifest = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
      version: string;
    };
    assert.deepEqual(await runCli(words), { code: 0, out: `${manifest.version}\n`, err: "" });
  });
}

test("tributary help names a command or a group and shows what --help shows of it", async () => {
  for (const words of [["pay"], ["accounts", "create"], ["accounts"], ["accounts", "origins"]]) {
    const asked = await runCli(["help", ...words]);
    assert.deepEqual(asked, await runCli([...words, "--help"]));
    assert.equal(asked.code, 0);
  }
  for (const words of [["help"], ["help", "--help"], ["-h"]])
    assert.deepEqual([words, await runCli(words)], [words, overview]);
});

test("a reader that has seen enough is no error", async () => {
  assert.deepEqual(await runWithClosedStdout(["--help"]), { code: 0, err: "" });
});

const REFUSED: [words: string[], sentence: RegExp][] = [
  [["dve"], /^error: There is no command "dve"\. Did you mean "dev"\?\n$/],
  [["acounts", "lst"], /Did you mean "accounts list"\?/],
  [["keys", "revok"], /Did you mean "keys revoke"\?/],
  [["frobnicate"], /`tributary --help` lists the commands/],
  [["dev", "--jsn"], /^error: The option --jsn is not known\. Did you mean --json\?\n$/],
  [["help", "pya"], /^error: There is no command "pya"\. Did you mean "pay"\?\n$/],
  [
    ["dev", "--port", "8995"],
    /^error: The option --port is not known\. The port comes from the environment: PORT=8995 tributary dev\.\n$/,
  ],
  [["dev", "--port=8995"], /environment: PORT=8995 tributary dev\.\n$/],
  [["dev", "--port"], /environment: PORT=9000 tributary dev\.\n$/],
  [["dev", "--keep"], /--keep needs a value: --keep DIR/],
  [["dev", "--json=yes"], /--json takes no value/],
  [["dev", "more"], /"more" is one argument too many/],
  [["pay"], /<intentId> is missing/],
  [["dev", "--log-level", "loud"], /"loud" is no log level/],
  [["demo", "--base-url", "http://x.test"], /--rpc-url and --payer-key-env are needed/],
];

for (const [words, sentence] of REFUSED) {
  test(`tributary ${words.join(" ")} is refused with exit code 2 and a remedy`, async () => {
    const { code, out, err } = await runCli(words);
    assert.match(err, sentence);
    assert.deepEqual([code, out], [2, ""]);
  });
}

test("with --json a refusal is JSON too", async () => {
  const { code, err } = await runCli(["accounts", "list", "--json"], { TRIBUTARY_HOME: "/nonexistent" });
  assert.equal(code, 1);
  assert.match((JSON.parse(err) as { error: { message: string } }).error.message, /Nothing runs here/);
});
