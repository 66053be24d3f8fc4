import assert from "node:assert/strict";
import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import type { Hex } from "@tributary/inbox/terms";
import { privateKeyToAccount } from "viem/accounts";
import { loadConfig } from "../../src/config/loadConfig.ts";
import { NETWORKS } from "../../src/config/networks/network.ts";
import { runCli, temporaryFolder } from "../support/cli.ts";

// `tributary init` as an operator uses it, and `serve --check` of what it wrote.

const folder = temporaryFolder();
after(() => folder.remove());
const KEY = `0x${"1b".repeat(32)}`;
const WALLET = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
const PERMISSION_BITS = 0o777;

let files = 0;
function newFile(): string {
  files += 1;
  return join(folder.path, `init-${files}.json`);
}

test("init --yes writes what serve --check accepts, once the gas key is set", async () => {
  const file = newFile();
  const rpcUrls = "base-sepolia=http://127.0.0.1:1";
  const written = await runCli(["init", file, "--yes", "--rpc-urls", rpcUrls]);
  assert.deepEqual([written.code, written.err], [0, ""]);
  assert.match(written.out, /1\. Set TRIBUTARY_GAS_KEY_BASE_SEPOLIA\./);
  assert.equal(statSync(file).mode & PERMISSION_BITS, 0o600);
  const check = (variables: Record<string, string>) => runCli(["serve", "--check", "--config", file], variables);
  const keyless = await check({});
  assert.deepEqual(
    [keyless.code, keyless.err.split(" is not set")[0]],
    [2, "error: chains[0].gasKeyEnv: the environment variable TRIBUTARY_GAS_KEY_BASE_SEPOLIA"],
  );
  const accepted = await check({ TRIBUTARY_GAS_KEY_BASE_SEPOLIA: KEY });
  assert.equal(accepted.code, 0, accepted.err);
  assert.match(accepted.out, /^The configuration matches the database and every chain that answers\.$/m);
});

test("keys gas makes a key that serve takes, in a file for its owner, and overwrites none", async () => {
  const keyFile = join(folder.path, "base-sepolia.key");
  const made = await runCli(["keys", "gas", keyFile]);
  assert.equal(made.code, 0, made.err);
  assert.equal(statSync(keyFile).mode & PERMISSION_BITS, 0o600);
  const file = newFile();
  await runCli(["init", file, "--yes", "--rpc-urls", "http://127.0.0.1:1"]);
  const named = readFileSync(file, "utf8").replace(/"gasKeyEnv": "\w+"/, `"gasKeyFile": "${keyFile}"`);
  writeFileSync(file, named);
  const [chain] = loadConfig(file, {}).chains;
  assert.ok(chain !== undefined && "gasKey" in chain);
  assert.equal(privateKeyToAccount(chain.gasKey as Hex).address, made.out.trim());
  const again = await runCli(["keys", "gas", keyFile]);
  assert.deepEqual([again.code, again.err], [1, `error: ${keyFile} exists and stays as it is: name another file.\n`]);
});

test("init takes URLs without a name for a single chain, and names the chains it knows", async () => {
  const file = newFile();
  const taken = await runCli([
    "init",
    file,
    "--yes",
    "--chains",
    "sepolia",
    "--rpc-urls",
    "http://127.0.0.1:1/a,http://127.0.0.1:2/b",
  ]);
  assert.equal(taken.code, 0, taken.err);
  assert.match(readFileSync(file, "utf8"), /http:\/\/127\.0\.0\.1:1\/a[^]*http:\/\/127\.0\.0\.1:2\/b/);
  const two = await runCli([
    "init",
    newFile(),
    "--yes",
    "--chains",
    "sepolia,base-sepolia",
    "--rpc-urls",
    "http://127.0.0.1:1",
  ]);
  assert.match(two.err, /entries of the form CHAIN=URL/);
  assert.match((await runCli(["init", "--help"])).out, /such as base,arbitrum,solana; `tributary networks list`/);
});

test("init asks each question, explains what it does not accept, and writes live settings", async () => {
  const file = newFile();
  const answers = [
    "production",
    "live",
    "bse",
    "base,optimism",
    "base=https://one.example,base=https://two.example,optimism=https://one.example",
    "base=https://one.example/key,base=https://two.example,optimism=https://one.example,optimism=https://two.example",
    "http://pay.example",
    "https://pay.example",
    "postgres://tributary:secret@db/tributary",
    "",
    "base=3000,polygon=1",
    "base=3000",
    "0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaee0",
    WALLET,
    "50",
    "help@pay.example",
  ];
  const { code, out, err } = await runCli(["init", file], {}, `${answers.join("\n")}\n`);
  assert.equal(code, 0, err);
  for (const explanation of [
    /Give test or live\./,
    /did you mean base\./,
    /Give URLs of 2 hosts for optimism, because one provider alone would decide/,
    /Give a URL that begins with https:\/\//,
    /Give a URL without a password/,
    /Give entries such as ETH=3000 or base=3000, with coins or chains of --chains, or none/,
    /correct checksum/,
  ])
    assert.match(err, explanation);
  assert.match(out, /Set TRIBUTARY_DATABASE_URL and TRIBUTARY_GAS_KEY_BASE and TRIBUTARY_GAS_KEY_OPTIMISM\./);
  assert.doesNotMatch(readFileSync(file, "utf8"), /secret@/);
  const variables = {
    TRIBUTARY_DATABASE_URL: "postgres://db/tributary",
    TRIBUTARY_GAS_KEY_BASE: KEY,
    TRIBUTARY_GAS_KEY_OPTIMISM: KEY,
  };
  const config = loadConfig(file, variables);
  assert.deepEqual(
    [config.environment, config.baseUrl, config.feeRecipient, config.feeBps, config.support, config.defaultRail],
    ["live", "https://pay.example", WALLET.toLowerCase(), 50, "mailto:help@pay.example", "base:usdc"],
  );
  assert.deepEqual(
    config.chains.map(({ native, tokens: [usdc] }) => [native.usd, usdc?.minimumUnits, usdc?.crossingMinimumUnits]),
    [
      ["3000", 30_000n, 30_000n],
      [undefined, 10_000n, 10_000n],
    ],
  );
  assert.deepEqual(
    config.chains.map(({ chainId, rpcUrls, agreement }) => [chainId, rpcUrls.length, agreement?.providers]),
    [
      [8453, 2, 2],
      [10, 2, 2],
    ],
  );
  assert.match(readFileSync(file, "utf8"), /^ {2}\/\/ "alarms":/m);
});

const LIVE_SLUGS = NETWORKS.filter(({ environment, kind }) => environment === "live" && kind === "evm").map(
  ({ slug }) => slug,
);

test("init writes Base, Arbitrum and a listed Solana from the catalogue, with the minimums of one price", async () => {
  const file = newFile();
  const words = ["init", file, "--yes", "--json", "--environment", "live", "--chains", "base,arbitrum,solana"];
  const options = ["--usd", "ETH=6000", "--base-url", "https://pay.example", "--fee-recipient", WALLET];
  const { code, out, err } = await runCli([...words, ...options]);
  assert.equal(code, 0, err);
  const { requiredVariables } = JSON.parse(out) as { requiredVariables: string[] };
  assert.deepEqual(requiredVariables, [
    "TRIBUTARY_DATABASE_URL",
    "TRIBUTARY_GAS_KEY_BASE",
    "TRIBUTARY_GAS_KEY_ARBITRUM",
  ]);
  const config = loadConfig(file, {
    TRIBUTARY_DATABASE_URL: "postgres://db/x",
    TRIBUTARY_GAS_KEY_BASE: KEY,
    TRIBUTARY_GAS_KEY_ARBITRUM: KEY,
  });
  assert.deepEqual(
    config.chains.map(({ slug, native, rpcUrls, tokens: [usdc] }) => [
      slug,
      native.usd,
      rpcUrls.length,
      usdc?.minimumUnits,
    ]),
    [
      ["base", "6000", 2, 50_000n],
      ["arbitrum", "6000", 2, 70_000n],
    ],
  );
  assert.deepEqual(
    config.solanaChains?.map(({ slug, tokens: [usdc] }) => [slug, usdc?.isRail]),
    [["solana", false]],
  );
});

test("init writes a Solana that settles once its program is named, and keys of providers stay out of the file", async () => {
  const file = newFile();
  const program = "So1nE8iSFcGHGJD9b4xNjsCDeAXsA6tDLqiaZ6WGp3j";
  const fees = "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM";
  const urls = "https://a.example/${SOLANA_KEY},https://b.example/${SOLANA_KEY}";
  const words = ["init", file, "--yes", "--json", "--environment", "live", "--chains", "solana", "--rpc-urls", urls];
  const options = ["--base-url", "https://pay.example", "--fee-recipient", WALLET];
  const { code, out, err } = await runCli([
    ...words,
    ...options,
    "--solana-program",
    program,
    "--solana-fee-recipient",
    fees,
  ]);
  assert.equal(code, 0, err);
  const { requiredVariables } = JSON.parse(out) as { requiredVariables: string[] };
  assert.deepEqual(requiredVariables, ["TRIBUTARY_DATABASE_URL", "SOLANA_KEY", "TRIBUTARY_FEE_PAYER_SOLANA"]);
  const variables = { TRIBUTARY_DATABASE_URL: "postgres://db/x", SOLANA_KEY: "secret" };
  const config = loadConfig(file, variables, { keys: "optional" });
  assert.deepEqual(
    config.chains.map(({ slug, rpcUrls }) => [slug, ...rpcUrls]),
    [["solana", "https://a.example/secret", "https://b.example/secret"]],
  );
  assert.equal(config.defaultRail, "solana:usdc");
  assert.throws(() => loadConfig(file, { TRIBUTARY_DATABASE_URL: "postgres://db/x" }, { keys: "optional" }), {
    message: "chains[0].rpcUrls[0]: the environment variable SOLANA_KEY is not set; it holds a part of this URL.",
  });
});

test("every network that init offers gives a file that loads", async () => {
  const cases = [
    ["test", "base-sepolia,sepolia,polygon-amoy,monad-testnet"],
    ["live", LIVE_SLUGS.join()],
  ] as const;
  for (const [environment, chains] of cases) {
    const file = newFile();
    const slugs = chains.split(",");
    const rpcUrls = slugs.flatMap((slug) => [`${slug}=https://a.example`, `${slug}=https://b.example`]).join(",");
    const options = ["--rpc-urls", rpcUrls, "--base-url", "https://pay.example", "--fee-recipient", WALLET];
    const words = ["init", file, "--yes", "--json", "--environment", environment, "--chains", chains, ...options];
    const { code, out, err } = await runCli(words);
    assert.equal(code, 0, err);
    const { requiredVariables } = JSON.parse(out) as { requiredVariables: string[] };
    const values = requiredVariables.map((name) => [name, name.endsWith("_URL") ? "postgres://db/x" : KEY]);
    const config = loadConfig(file, Object.fromEntries(values) as Record<string, string>);
    assert.deepEqual(
      config.chains.map(({ slug }) => slug),
      slugs,
    );
  }
});

test("init overwrites nothing", async () => {
  const file = newFile();
  writeFileSync(file, "mine");
  const { code, out, err } = await runCli(["init", file, "--yes"]);
  assert.deepEqual(
    [code, out, err],
    [1, "", `error: ${file} exists and stays as it is: name another file, or move it away.\n`],
  );
  assert.equal(readFileSync(file, "utf8"), "mine");
});

test("a folder of another user is refused in one line, without a stack", async () => {
  // Root may write everywhere except where the kernel refuses.
  const isRoot = process.getuid?.() === 0;
  if (!isRoot) chmodSync(folder.path, 0o500);
  const file = isRoot ? "/sys/tributary.json" : join(folder.path, "no.json");
  const { code, err } = await runCli(["init", file, "--yes"]);
  if (!isRoot) chmodSync(folder.path, 0o700);
  assert.equal(code, 1);
  assert.match(
    err,
    /^error: (?:EACCES|EPERM|EROFS): [^\n]*\. Run the command as the user of the service, or give it access\.\n$/,
  );
});

const REFUSED: [words: string[], message: RegExp][] = [
  [[], /No answer: give --environment, or --yes for the defaults\./],
  [["--environment", "prod"], /^error: --environment must be test or live\./],
  [["--yes", "--environment", "live", "--chains", "codex"], /^error: --rpc-urls is missing: give JSON-RPC URLs/],
  [["--yes", "--environment", "live"], /^error: --base-url is missing/],
  [
    ["--yes", "--chains", "dev-one"],
    /^error: --chains must be networks of the catalogue\. The catalogue has no network dev-one/,
  ],
  [
    ["--yes", "--chains", "base"],
    /^error: --chains must be networks of the catalogue\. Base is a real network, and the env/,
  ],
  [
    ["--yes", "--chains", "arc-testnet"],
    /^error: --chains must be networks of the catalogue\. Arc Testnet \(5042002\) needs an/,
  ],
  [["--yes", "--solana-program", "none"], /^error: --solana-program has no meaning here/],
  [["--yes", "--database", "postgres://u:pw@h/d"], /^error: --database must be a URL without a password/],
  [["--yes", "--fee-bps", "1001"], /^error: --fee-bps must be a whole number from 0 to 1000\./],
  [
    ["--yes", "--fee-recipient", "0x036CbD53842c5426634e7929541eC2318f3dCF7e"],
    /^error: feeRecipient: this is the contract of USDC/,
  ],
];

for (const [words, message] of REFUSED) {
  test(`init ${words.join(" ")} without a terminal writes nothing`, async () => {
    const file = newFile();
    const { code, out, err } = await runCli(["init", file, ...words]);
    assert.match(err, message);
    assert.deepEqual([code, out], [2, ""]);
    assert.throws(() => statSync(file), /ENOENT/);
  });
}
