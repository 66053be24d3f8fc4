import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { createApiClient } from "../../src/operator/client/apiClient.ts";
import { startDevProcess, temporaryFolder, type DevProcess } from "../support/cli.ts";
import { chooseFreePort } from "../support/freePort.ts";

// Runs every command block of the documents beside a local world, each command in a shell as a reader pastes it. What a
// reader fills in (`acct_…`) is filled in here. A command that cannot run here has its reason, and each reason a
// command.
// `node test/walk/main.ts docs/operate/restore.md` runs one page.

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const PAGES = [
  "README.md",
  ...globSync(["docs/**/*.md", "{contracts,programs,test}/README.md"], { cwd: ROOT }).toSorted(),
];
const COMMAND_S_MAX = 180;
/** So long a command without an end of its own must run. */
const ENDLESS_S = 5;

const NOT_RUN: readonly (readonly [pattern: RegExp, reason: string])[] = [
  [/^git clone /, "the repository is here, and the world runs"],
  [/^npm (?:ci|install|pack)\b/, "test/client/packed.test.ts packs and installs in a fresh folder"],
  [
    /^npm (?:test|run (?:flood|sim|stage|lint|test:deep))|^npx node --test/,
    "a part of its own, or the script's name is checked",
  ],
  [
    / --config | serve |^tributary serve|init my\.json/,
    "test/cli/{init,serve,operate,hub}.test.ts run it with chains of their own",
  ],
  [/^(?:pg_dump|createdb) /, "`npm run newcomer` runs them on servers of its own"],
  [/ recover .*--rpc/, "`npm run drill` recovers from chains that it can reach"],
  [/ verify intent\.json/, "the bridges of the local world are in no published table: test/recover verifies"],
];
const ENDLESS: readonly RegExp[] = [/ --follow\b/, / webhooks listen /, /^curl -N /];

type Command = { page: string; shell: string };

/** The commands of a page's blocks. Lines that end with a backslash go on; comments are left out. */
function commandsOf(page: string): Command[] {
  const markdown = readFileSync(join(ROOT, page), "utf8");
  const blocks = [...markdown.matchAll(/^ *```sh\n([\s\S]*?)^ *```/gm)].map(([, block = ""]) => block);
  const lines = blocks.flatMap((block) => block.replaceAll(/\\\n */g, " ").split("\n"));
  return lines
    .map((line) => line.replace(/(?:^|\s+)#\s.*$/, "").trim())
    .filter((line) => line !== "")
    .map((shell) => ({ page, shell }));
}

/** Puts this world's values in the places of the text's, and the response of a create into a file of `folder`. */
async function createFiller({ ready }: DevProcess, folder: string): Promise<(shell: string) => string> {
  const { baseUrl, accounts, chains, solana } = ready;
  const [account] = accounts;
  if (account === undefined) throw new Error("the world has no account");
  const api = createApiClient({ baseUrl, apiKey: account.apiKey });
  const created = await api.createPaymentIntent({ priceUnits: 25_000_000, oneTime: true });
  writeFileSync(join(folder, "responses.jsonl"), `${JSON.stringify(created)}\n`);
  const { intentId } = created;
  const [one, two] = chains.map(({ slug }) => slug);
  const onSolana = chains.find(({ caip2 }) => caip2.startsWith("solana:"))?.slug ?? "";
  const places: readonly (readonly [RegExp, string])[] = [
    [/trib_test_…/g, account.apiKey],
    [/pi_(?:3x7\w*)?…|pi_3x7\w+/g, intentId],
    [/acct_…/g, account.accountId],
    [/https:\/\/pay\.example|http:\/\/127\.0\.0\.1:8787/g, baseUrl],
    [/--solana-chain solana --solana-wallet …/g, `--solana-chain ${onSolana} --solana-wallet ${solana.payoutWallet}`],
    [/--chain base(?:-sepolia)? /g, `--chain ${one} `],
    [/\bbase:usdc/g, `${one}:usdc`],
    [/\boptimism:usdc/g, `${two}:usdc`],
    [/0x…/g, account.payoutWallet],
  ];
  return (shell) => places.reduce((filled, [pattern, value]) => filled.replaceAll(pattern, value), shell);
}

/** A folder with the commands that a reader has after `npm ci`. */
function installCommands(folder: string): void {
  mkdirSync(join(folder, "bin"));
  const scripts = {
    tributary: `exec "${process.execPath}" "${ROOT}bin/tributary.js" "$@"`,
    npx: `[ "$1" = tributary ] || exit 64; shift; exec tributary "$@"`,
  };
  for (const [name, script] of Object.entries(scripts)) {
    writeFileSync(join(folder, "bin", name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(folder, "bin", name), 0o755);
  }
  writeFileSync(
    join(folder, "logo.svg"),
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><path d="M0 0h8v8z"/></svg>`,
  );
}

type Outcome = { code: number | null; output: string };

async function run(shell: string, environment: Record<string, string>, seconds: number): Promise<Outcome> {
  // A refused call fails the command.
  const script = shell.replace(/\bcurl /, "curl -sS --fail-with-body ");
  const { TRIBUTARY_HOME: cwd } = environment;
  const child = spawn("timeout", [String(seconds), "sh", "-c", script], {
    cwd,
    env: environment,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [out, error] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  return { code: child.exitCode, output: `${out}${error}`.trim() };
}

const TIMED_OUT = 124;

/** Why the outcome is wrong; undefined when it is right. */
function complaint(command: Command, { code, output }: Outcome): string | undefined {
  const expected = ENDLESS.some((pattern) => pattern.test(command.shell)) ? TIMED_OUT : 0;
  return code === expected ? undefined : `exit code ${code}\n${output.slice(-1_000)}`;
}

/** Takes the values of an `export` line that are not the reader's secrets; undefined for another line. */
function exportedValues(shell: string): Record<string, string> | undefined {
  const [, assignments] = /^export (.*)$/.exec(shell) ?? [];
  if (assignments === undefined) return undefined;
  const values = Array.from(
    assignments.matchAll(/(\w+)=(\S+)/g),
    ([, name = "", value = ""]) => [name, value] as const,
  );
  return Object.fromEntries(values.filter(([name, value]) => !value.includes("…") && !name.includes("GAS_KEY")));
}

class Walk {
  readonly #usedReasons = new Set<RegExp>();
  readonly #fill: (shell: string) => string;
  readonly #environment: Readonly<Record<string, string>>;
  failures = 0;

  constructor(fill: (shell: string) => string, environment: Readonly<Record<string, string>>) {
    this.#fill = fill;
    this.#environment = environment;
  }

  /** Commands of a page follow each other in one terminal. */
  async runPage(page: string): Promise<void> {
    let environment = { ...this.#environment };
    for (const command of commandsOf(page)) {
      const exported = exportedValues(this.#fill(command.shell));
      if (exported === undefined) await this.#run(command, environment);
      else environment = { ...environment, ...exported };
    }
  }

  async #run(command: Command, environment: Record<string, string>): Promise<void> {
    const { page, shell } = command;
    const [pattern, reason] = NOT_RUN.find(([each]) => each.test(shell)) ?? [];
    if (pattern !== undefined) {
      this.#usedReasons.add(pattern);
      return console.log(`  –   ${page}: ${shell}\n      ${reason}`);
    }
    const isEndless = ENDLESS.some((each) => each.test(shell));
    const outcome = await run(this.#fill(shell), environment, isEndless ? ENDLESS_S : COMMAND_S_MAX);
    const wrong = complaint(command, outcome);
    if (wrong === undefined) return console.log(`  ok  ${page}: ${shell}`);
    this.failures += 1;
    console.log(`  FAIL${page}: ${shell}\n${wrong}`);
  }

  checkReasons(): void {
    for (const [pattern] of NOT_RUN.filter(([each]) => !this.#usedReasons.has(each))) {
      this.failures += 1;
      console.log(`  FAIL no command matches ${String(pattern)}: remove it`);
    }
  }
}

async function walk(world: DevProcess, folder: string): Promise<number> {
  const { baseUrl, accounts } = world.ready;
  const walked = new Walk(await createFiller(world, folder), {
    PATH: `${join(folder, "bin")}:${process.env["PATH"] ?? ""}`,
    TRIBUTARY_HOME: folder,
    TRIBUTARY_API_KEY: accounts[0]?.apiKey ?? "",
    SERVICE: baseUrl,
  });
  const named = process.argv.slice(2);
  for (const page of named.length === 0 ? PAGES : named) await walked.runPage(page);
  if (named.length === 0) walked.checkReasons();
  return walked.failures;
}

const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { scripts: Record<string, string> };
const missing = PAGES.flatMap(commandsOf).flatMap(({ page, shell }) => {
  const [, name = "test", workspace] = /^npm (?:run (\S+)|test)(.*)$/.exec(shell) ?? [];
  return name in scripts || workspace?.includes("-w ") === true ? [] : [`${page}: there is no script ${name}`];
});
for (const each of missing) console.log(`  FAIL ${each}`);

const folder = temporaryFolder();
installCommands(folder.path);
const world = await startDevProcess([], { TRIBUTARY_HOME: folder.path, PORT: String(await chooseFreePort()) });
try {
  const failures = missing.length + (await walk(world, folder.path));
  console.log(failures === 0 ? "every command of the documents runs" : `${failures} commands fail`);
  process.exitCode = failures === 0 ? 0 : 1;
} finally {
  world.child.kill("SIGTERM");
  await world.ended;
  folder.remove();
}
