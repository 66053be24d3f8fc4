import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { sql } from "kysely";
import { deterministicDeployer, hubAddress, hubCodeHash } from "@tributary/inbox/hub";
import type { Hex } from "@tributary/inbox/terms";
import { privateKeyToAccount } from "viem/accounts";
import { DEV_ACCOUNTS } from "../../src/dev/devAccounts.ts";
import { startAnvil } from "../../src/dev/chains/anvil.ts";
import { createDevClient } from "../../src/dev/chains/devClient.ts";
import { deployHub, HUB } from "../../src/dev/chains/contracts.ts";
import { openDatabase } from "../../src/db/database.ts";
import { renderCli, runCli, runCliProcess, temporaryFolder } from "../support/cli.ts";
import { createDatabaseOn, startOwnServer } from "../support/database.ts";
import type { PostgresServer } from "../support/postgres.ts";
import { insertIntent } from "../support/intents.ts";
import { isDeepRun, onlyDeep } from "../support/runNumber.ts";

// Errors that stop the start: an exit code and one sentence.

const folder = temporaryFolder();
after(() => folder.remove());
const SAMPLE = new URL("../../config/testnets.json", import.meta.url);
const KEY = `0x${"1a".repeat(32)}` as const;
const KEYS = { TRIBUTARY_GAS_KEY_BASE_SEPOLIA: KEY, TRIBUTARY_GAS_KEY_SEPOLIA: KEY, TRIBUTARY_HOME: folder.path };

let postgres: Promise<PostgresServer> | undefined;
let databases = 0;
after(async () => (await postgres)?.remove());

/** The URL of a new, empty database on a server whose commits survive a power failure, which the service insists on. */
async function createDatabase(): Promise<string> {
  databases += 1;
  return createDatabaseOn(await (postgres ??= startOwnServer({ isDurable: true })), `serve_${databases}`, "empty");
}

let files = 0;
function write(content: string): string {
  files += 1;
  const path = join(folder.path, `config-${files}.json`);
  writeFileSync(path, content);
  return path;
}

const sample = readFileSync(SAMPLE, "utf8");

const BAD: [name: string, file: string, variables: Record<string, string>, sentence: RegExp][] = [
  ["no such file", "/nowhere.json", KEYS, /\/nowhere\.json: the configuration file cannot be read/],
  ["no JSON", write("{"), KEYS, /not valid JSON/],
  [
    "a typo",
    write(sample.replace('"rpcUrls"', '"rpcUrl"')),
    KEYS,
    /chains\[0\]\.rpcUrl: unknown key; did you mean rpcUrls\?/,
  ],
  [
    "a fee above the cap",
    write(sample.replace('"feeBps": 50', '"feeBps": 5000')),
    KEYS,
    /feeBps: 5000 .* from 0 to 1000/,
  ],
  [
    "a bad checksum",
    write(sample.replace("0x036CbD", "0x036CBd")),
    KEYS,
    /chains\[0\]\.tokens\[0\]\.address: .* checksum/,
  ],
  ["no gas key", write(sample), { TRIBUTARY_HOME: folder.path }, /TRIBUTARY_GAS_KEY_BASE_SEPOLIA is not set/],
  ["an invalid port", write(sample), { ...KEYS, PORT: "http" }, /PORT: "http" is not a port/],
  [
    "an unreachable database",
    write(sample),
    { ...KEYS, TRIBUTARY_LOG_LEVEL: "silent", TRIBUTARY_DATABASE_URL: "postgres://127.0.0.1:1/none" },
    /the database at 127\.0\.0\.1:1 cannot be used: .*ECONNREFUSED/,
  ],
];

for (const [name, file, variables, sentence] of BAD) {
  test(`serve does not start: ${name}`, async () => {
    // Only the last one has come as far as to handle signals.
    const runServe = isDeepRun || name === "an unreachable database" ? runCli : renderCli;
    const { code, out, err } = await runServe(["serve", "--config", file], variables);
    assert.notEqual(code, 0);
    assert.equal(out, "");
    assert.match(err, sentence);
    assert.equal(err.trim().split("\n").length, 1, err);
    assert.doesNotMatch(err, /1a1a1a/);
  });
}

type LocalOptions = { wsUrls?: readonly string[]; database?: object };

/**
 * The sample with its first chain at a local node, and no other chain. A new embedded database unless told otherwise.
 */
function localConfig(rpcUrl: string, { wsUrls, database }: LocalOptions = {}): string {
  const config = JSON.parse(sample) as { database: object; chains: Record<string, unknown>[] };
  files += 1;
  config.database = database ?? { directory: join(folder.path, `database-${files}`) };
  config.chains = config.chains.slice(0, 1).map((chain) => ({ ...chain, rpcUrls: [rpcUrl], wsUrls }));
  return write(JSON.stringify(config));
}

test("serve fails on a node of another chain or without the token, and tolerates an unreachable node", async (t) => {
  const other = await startAnvil({ chainId: 900_009 });
  const empty = await startAnvil({ chainId: 84_532 });
  t.after(() => Promise.all([other.stop(), empty.stop()]));
  const check = (rpcUrl: string, database?: object) =>
    runCli(["serve", "--check", "--config", localConfig(rpcUrl, database && { database })], KEYS);
  const [wrong, missing, silent] = await Promise.all([
    check(other.rpcUrl, { url: await createDatabase() }),
    check(empty.rpcUrl, { url: await createDatabase() }),
    runCliProcess(["serve", "--check", "--config", localConfig("http://127.0.0.1:1")], KEYS),
  ]);
  assert.match(wrong.err, /is configured as a provider of eip155:84532 but serves eip155:900009/);
  assert.match(missing.err, /USDC at 0x036c\w+ is no token there/);
  assert.deepEqual([wrong.code, missing.code], [1, 1]);
  assert.equal(silent.code, 0, silent.err);
  assert.match(silent.out, /one provider suffices/);
  assert.match(silent.err, /does not answer/);
});

/** A second token of the first chain, as its section in the file. */
const DUSD = { symbol: "DUSD", address: `0x${"d1".repeat(20)}`, decimals: 18 };

function withToken(path: string, token: object): string {
  const config = JSON.parse(readFileSync(path, "utf8")) as { chains: { tokens: object[] }[] };
  config.chains[0]?.tokens.push(token);
  return write(JSON.stringify(config));
}

/** Tables without statistics. */
async function listUnanalyzed(database: { url: string }): Promise<string[]> {
  const db = await openDatabase(database);
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' and reltuples < 0
    order by 1`.execute(db.root);
  await db.close();
  return rows.map(({ name }) => name);
}

test("a token that an intent uses cannot be removed from the configuration, but can be retired", async () => {
  const database = { url: await createDatabase() };
  const without = localConfig("http://127.0.0.1:1", { database });
  const check = (file: string) => runCli(["serve", "--check", "--config", file], KEYS);
  const empty = await check(withToken(without, DUSD));
  assert.match(empty.out, /^The next start applies the migrations 0101_chain, /m, empty.err);
  for (const words of [
    ["doctor"],
    ["accounts", "list"],
    ["accounts", "create", "Shop"],
    ["status"],
    ["ledger", "balances"],
  ]) {
    const { code, err, out } = await runCli([...words, "--config", without], KEYS);
    assert.equal(code, 1, words.join(" "));
    assert.match(
      err,
      /^error: the database lacks the migrations 0101_chain to \w+: run `tributary migrate`, or start the service\n$/,
    );
    assert.equal(out, "");
  }
  assert.equal((await check(without)).out, empty.out, "none of them changed anything");

  const migrated = await runCli(["migrate", "--config", without], KEYS);
  assert.match(migrated.out, /^Applied: 0101_chain, /, migrated.err);
  assert.deepEqual(await listUnanalyzed(database), [], "its tables are analysed");
  assert.equal((await runCli(["migrate", "--config", without], KEYS)).out, "The schema is up to date.\n");
  const listing = await runCli(["accounts", "list", "--config", without], KEYS);
  assert.equal(listing.code, 0, listing.err);
  // A start with the token, as far as the database sees it.
  const served = await openDatabase(database);
  await sql`insert into served_token (chain, token, symbol, since)
    values ('eip155:84532', ${DUSD.address}, 'DUSD', ${new Date()})`.execute(served.root);
  await served.close();
  const unneeded = await check(without);
  assert.equal(unneeded.code, 0, unneeded.err);
  const db = await openDatabase(database);
  await insertIntent(db, { payout_chain_reference: "84532", payout_token: DUSD.address });
  await db.close();
  const refused = await check(without);
  assert.equal(refused.code, 1);
  assert.match(refused.err, /lacks tokens that intents in the database still use: DUSD \(0xd1\w+\) on eip155:84532\./);
  const retired = await check(withToken(without, { ...DUSD, isOrigin: false, isRail: false }));
  assert.equal(retired.code, 0, retired.err);
});

test("serve and --check say in one sentence that a role may not migrate, or that the database is not in UTF-8", async () => {
  const running = await (postgres ??= startOwnServer({ isDurable: true }));
  const url = await createDatabase();
  const admin = await openDatabase({ url });
  await sql`create role guest login`.execute(admin.root);
  await sql`create database latin encoding 'LATIN1' template template0 locale 'C'`.execute(admin.root);
  const asGuest = localConfig("http://127.0.0.1:1", { database: { url: url.replace("tributary@", "guest@") } });
  const inLatin = localConfig("http://127.0.0.1:1", { database: { url: running.urlOf("latin") } });
  const asOwner = localConfig("http://127.0.0.1:1", { database: { url } });
  const refusal =
    /^error: the role "guest" may not create tables in the schema "public": grant it CREATE there, or run `tributary migrate` as .*\n$/m;
  for (const words of [...(isDeepRun ? [["serve"]] : []), ["serve", "--check"], ["migrate"]]) {
    const guest = await runCli([...words, "--config", asGuest], KEYS);
    assert.equal(guest.code, 1, words.join(" "));
    assert.match(guest.err, refusal);
    const latin = await runCli([...words, "--config", inLatin], KEYS);
    assert.equal(latin.code, 1, words.join(" "));
    assert.match(latin.err, /^error: the database has the encoding LATIN1 and must have UTF8, .*\n$/m);
    assert.doesNotMatch(guest.err + latin.err, /^ +at /m, "no stack trace");
  }
  assert.equal((await runCli(["migrate", "--config", asOwner], KEYS)).code, 0);
  await sql`grant select on all tables in schema public to guest`.execute(admin.root);
  await admin.close();
  const check = await runCli(["serve", "--check", "--config", asGuest], KEYS);
  assert.equal(check.code, 0, `a role without CREATE serves a migrated database: ${check.err}`);
});

test("serve --check connects to each WebSocket, fails on one of another chain, and shows no URL", async (t) => {
  const [right, other] = await Promise.all([startAnvil({ chainId: 84_532 }), startAnvil({ chainId: 900_009 })]);
  t.after(() => Promise.all([right.stop(), other.stop()]));
  const [rightUrl, otherUrl] = [right, other].map(({ rpcUrl }) => `${rpcUrl.replace("http", "ws")}/?key=s3cret`);
  const wsUrls = [rightUrl, otherUrl, "ws://127.0.0.1:1/s3cret"].map(String);
  const { code, out, err } = await runCli(
    [
      "serve",
      "--check",
      "--config",
      localConfig("http://127.0.0.1:1", { wsUrls, database: { url: await createDatabase() } }),
    ],
    KEYS,
  );
  assert.equal(code, 1, err);
  assert.match(out, /^Base Sepolia: websocket: 127\.0\.0\.1:\d+ pushes new heads\.$/m);
  assert.match(out, /^Base Sepolia: websocket: 127\.0\.0\.1:1 was not reached: .*\.$/m);
  assert.match(out, /^Base Sepolia: websocket: .* websocket of eip155:84532 but serves eip155:900009\.$/m);
  assert.doesNotMatch(out, /configuration matches/);
  assert.doesNotMatch(out + err, /s3cret/);
});

test("hub deploy deploys a missing hub once, and reports why it fails", async (t) => {
  const chain = await startAnvil({ chainId: 84_532 });
  t.after(() => chain.stop());
  const words = ["hub", "deploy", "--config", localConfig(chain.rpcUrl)];
  const poor = await runCli(words, KEYS);
  assert.equal(poor.code, 1);
  assert.match(poor.err, /^Base Sepolia: the deployment costs at most 0\.\d+ ETH; 0x\w+ has 0 ETH\.\n/);
  assert.match(poor.err, /^error: The hub was not deployed on Base Sepolia: .*\n$/m);
  const client = createDevClient(chain.rpcUrl);
  await client.setBalance({ address: privateKeyToAccount(KEY).address, value: 10n ** 18n });
  const setBaseFee = async (baseFeePerGas: bigint) => {
    await client.setNextBlockBaseFeePerGas({ baseFeePerGas });
    await client.mine({ blocks: 1 });
  };
  await setBaseFee(300_000_000_000n);
  const dear = await runCli(words, KEYS);
  assert.equal(dear.code, 1);
  assert.match(dear.err, /gas price is now 30\d(\.\d+)? gwei, above the ceiling of 100 gwei/);
  await setBaseFee(1_000_000_000n);
  const first = await runCli(words, KEYS);
  assert.equal(first.code, 0, first.err);
  assert.match(first.out, new RegExp(`the hub ${hubAddress} was deployed by 0x`));
  assert.match((await runCli(words, KEYS)).out, /was already deployed/);
});

test(
  "serve --check names every chain without a hub, and the command that deploys it with this file",
  { skip: onlyDeep },
  async (t) => {
    const chains = await Promise.all([startAnvil({ chainId: 84_532 }), startAnvil({ chainId: 11_155_111 })]);
    t.after(() => Promise.all(chains.map((chain) => chain.stop())));
    const config = JSON.parse(sample) as { database: object; chains: { tokens: { address: Hex }[] }[] };
    const withNodes = config.chains.slice(0, 2).map((chain, index) => ({ ...chain, rpcUrls: [chains[index]?.rpcUrl] }));
    for (const [index, { rpcUrl }] of chains.entries())
      for (const { address } of config.chains[index]?.tokens ?? [])
        // A token that answers 6 to every call.
        await createDevClient(rpcUrl).setCode({ address, bytecode: "0x600660005260206000f3" });
    const file = write(
      JSON.stringify({ ...config, database: { directory: join(folder.path, "hubless") }, chains: withNodes }),
    );
    const { code, err } = await runCli(["serve", "--check", "--config", file], KEYS);
    assert.equal(code, 1);
    const sentences = err.match(/^.*has no hub at .*$/gm) ?? [];
    assert.deepEqual(sentences.length, 2, err);
    for (const sentence of sentences)
      assert.ok(sentence.endsWith(`"tributary hub deploy --config ${file}".`), sentence);
  },
);

test(
  "hub deploy and serve refuse a chain with the rules of Shanghai, and name the hard fork",
  { skip: onlyDeep },
  async (t) => {
    const chain = await startAnvil({ chainId: 84_532, hardfork: "shanghai" });
    t.after(() => chain.stop());
    const client = createDevClient(chain.rpcUrl);
    await client.setBalance({ address: privateKeyToAccount(KEY).address, value: 10n ** 18n });
    // The configured token, which answers 6 to every call.
    await client.setCode({
      address: "0x036cbd53842c5426634e7929541ec2318f3dcf7e",
      bytecode: "0x600660005260206000f3",
    });
    for (const words of [["hub", "deploy"], ["serve"], ["serve", "--check"]]) {
      const { code, err, out } = await runCli([...words, "--config", localConfig(chain.rpcUrl)], KEYS);
      assert.equal(code, 1, words.join(" "));
      assert.match(err + out, /transient storage \(EIP-1153\).*hard fork Cancun/, words.join(" "));
    }
  },
);

test("hub status tells apart a missing hub, this release's hub, other code and a missing deployer", async (t) => {
  const chain = await startAnvil({ chainId: 84_532 });
  t.after(() => chain.stop());
  const client = createDevClient(chain.rpcUrl);
  const statusOf = async () => {
    const run = await runCli(["hub", "status", "--config", localConfig(chain.rpcUrl), "--json"], KEYS);
    const [{ hub, codeHash } = {}] = JSON.parse(run.out) as { hub?: string; codeHash?: string | null }[];
    return [run.code, hub, codeHash];
  };
  assert.deepEqual(await statusOf(), [1, "absent", null]);
  await client.setBalance({ address: DEV_ACCOUNTS.issuer.address, value: 10n ** 18n });
  await deployHub(client, DEV_ACCOUNTS.issuer, HUB);
  assert.deepEqual(await statusOf(), [0, "present", hubCodeHash]);
  await client.setCode({ address: hubAddress, bytecode: "0x6001" });
  assert.deepEqual((await statusOf()).slice(0, 2), [1, "foreign"]);
  const refused = await runCli(["hub", "deploy", "--config", localConfig(chain.rpcUrl)], KEYS);
  assert.equal(refused.code, 1);
  assert.match(refused.err, /Base Sepolia has different code at 0x\w+: remove the chain/);
  await client.setCode({ address: hubAddress, bytecode: "0x" });
  assert.deepEqual(await statusOf(), [1, "absent", null]);
  await client.setCode({ address: deterministicDeployer, bytecode: "0x" });
  assert.deepEqual(await statusOf(), [1, "impossible", null]);
});
