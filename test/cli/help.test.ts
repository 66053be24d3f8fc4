import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { renderCli, runCli, runWithClosedStdout } from "../support/cli.ts";

const overview = await runCli(["--help"]);
const commands = overview.out
  .split("\n")
  .filter((line) => /^ {2}[a-z]/.test(line))
  .map((line) => line.trim().split(/ {2,}/)[0] ?? "");

test("the overview lists the commands; without arguments it is shown with exit code 2", async () => {
  assert.equal(overview.code, 0);
  for (const name of ["dev", "serve", "demo", "pay", "accounts create", "keys revoke", "intents show", "events tail"]) {
    assert.ok(commands.includes(name), name);
  }
  const nothing = await runCli([]);
  assert.deepEqual([nothing.code, nothing.out], [2, overview.out]);
});

for (const name of commands) {
  test(`tributary ${name} --help shows usage, options and an example`, async () => {
    const { code, out, err } = await renderCli([...name.split(" "), "--help"]);
    assert.deepEqual([code, err], [0, ""]);
    assert.match(out, new RegExp(`^Usage: tributary ${name}`, "m"));
    assert.match(out, /^ {2}--json +\S/m);
    assert.match(out, new RegExp(`^Examples?:\\n.*tributary ${name}`, "m"));
    assert.ok(
      out.split("\n").every((line) => line.length <= 140),
      "every line fits 140 columns",
    );
    assert.ok(!out.includes("\u001b"), "no colours without a terminal");
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

test("tributary help <command> shows the same as <command> --help, also for a group", async () => {
  for (const words of [["pay"], ["accounts", "create"], ["accounts"], ["accounts", "origins"]]) {
    const result = await renderCli(["help", ...words]);
    assert.deepEqual(result, await renderCli([...words, "--help"]));
    assert.equal(result.code, 0);
  }
  for (const words of [["help"], ["help", "--help"], ["-h"]])
    assert.deepEqual([words, await renderCli(words)], [words, overview]);
});

test("a closed pipe is not an error", async () => {
  assert.deepEqual(await runWithClosedStdout(["--help"]), { code: 0, err: "" });
});

/** These are refused by a process of their own as well. */
const REFUSED_COUNT_BY_PROCESS = 2;

const REFUSED: [words: string[], sentence: RegExp][] = [
  [["dve"], /^error: Unknown command "dve"\. Did you mean "dev"\?\n$/],
  [["acounts", "lst"], /Did you mean "accounts list"\?/],
  [["keys", "revok"], /Did you mean "keys revoke"\?/],
  [["frobnicate"], /`tributary --help` lists the commands/],
  [["dev", "--jsn"], /^error: Unknown option --jsn\. Did you mean --json\?\n$/],
  [["help", "pya"], /^error: Unknown command "pya"\. Did you mean "pay"\?\n$/],
  [
    ["dev", "--port", "8995"],
    /^error: Unknown option --port\. Set the port in the environment: PORT=8995 tributary dev\.\n$/,
  ],
  [["dev", "--port=8995"], /environment: PORT=8995 tributary dev\.\n$/],
  [["dev", "--port"], /environment: PORT=9000 tributary dev\.\n$/],
  [["dev", "--keep"], /--keep needs a value: --keep DIR/],
  [["dev", "--json=yes"], /--json takes no value/],
  [["dev", "more"], /Unexpected argument "more"/],
  [["pay"], /Missing argument <intentId>/],
  [["dev", "--log-level", "loud"], /--log-level must be one of .*, not "loud"/],
  [["demo", "--base-url", "http://x.test"], /--rpc-url and --payer-key-env are needed/],
];

for (const [index, [words, sentence]] of REFUSED.entries()) {
  test(`tributary ${words.join(" ")} fails with exit code 2 and a remedy`, async () => {
    const refused = await renderCli(words);
    assert.match(refused.err, sentence);
    assert.deepEqual([refused.code, refused.out], [2, ""]);
    if (index < REFUSED_COUNT_BY_PROCESS) assert.deepEqual(await runCli(words), refused);
  });
}

test("with --json an error is JSON too", async () => {
  const { code, err } = await runCli(["accounts", "list", "--json"], { TRIBUTARY_HOME: "/nonexistent" });
  assert.equal(code, 1);
  assert.match((JSON.parse(err) as { error: { message: string } }).error.message, /No running process was found/);
});
