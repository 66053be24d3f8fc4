import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { computeSolanaInbox } from "@tributary/inbox/solana/address";
import { tokenProgram } from "@tributary/inbox/solana/keys";
import { buildSettle, readonlyMeta, signerMeta, writableMeta } from "@tributary/inbox/solana/instructions";
import { placeholderProgram, solanaProgramHash } from "@tributary/inbox/solana/program";
import { solanaProgramCode } from "@tributary/inbox/solana/programCode";
import pino from "pino";
import type { Config } from "../../src/config/config.ts";
import { verifyChains } from "../../src/main.ts";
import { programDataAddress, UPGRADEABLE_LOADER } from "../../src/chain/solana/inboxProgram.ts";
import { buildFinalize } from "../../src/cli/solana/loaderInstructions.ts";
import { renderCli, temporaryFolder } from "../../test/support/cli.ts";
import { startRpcServer } from "./support/rpcServer.ts";
import { Scene } from "./support/scene.ts";
import { instruction, keyBytes, u32 } from "./support/tokens.ts";
import { createKeypair } from "./support/world.ts";
import type { Keypair } from "./support/world.ts";

// The real loader: deploying, comparing, and that nobody can change the program afterwards.

const scene = new Scene();
const { world, operator, thief } = scene;
const folder = temporaryFolder();
let server: Awaited<ReturnType<typeof startRpcServer>>;
const program = createKeypair();
const silentLog = pino({ level: "silent" });

before(async () => {
  server = await startRpcServer(world, "1".repeat(44));
});
after(async () => {
  await server.close();
  folder.remove();
});

function writeKey(name: string, { key }: Keypair): string {
  const { d = "", x = "" } = key.export({ format: "jwk" });
  const path = join(folder.path, name);
  writeFileSync(path, JSON.stringify([...Buffer.from(d, "base64url"), ...Buffer.from(x, "base64url")]));
  return path;
}

const status = (address: string) => renderCli(["hub", "status", "--rpc", server.url, "--program", address, "--json"]);
const kindOf = ({ out }: { out: string }) => (JSON.parse(out) as { kind: string }).kind;

function deploy(key: Keypair) {
  const keys = ["--key-file", writeKey("payer.json", operator), "--program-key", writeKey("program.json", key)];
  return renderCli(["hub", "deploy", "--rpc", server.url, ...keys]);
}

test("deploy creates the program, compares it, and gives its authority up; status agrees", async () => {
  assert.equal(kindOf(await status(program.address)), "absent");
  const { code, out, err } = await deploy(program);
  assert.deepEqual([code, out, err], [0, `${program.address}: is deployed and final\n`, ""]);
  const found = await status(program.address);
  assert.equal(found.code, 0);
  assert.equal((JSON.parse(found.out) as { expectedCodeHash: string }).expectedCodeHash, solanaProgramHash);
  assert.deepEqual((await deploy(program)).out, `${program.address}: was already deployed\n`);
});

test("the deployed program settles", () => {
  world.svm.warpToSlot(world.svm.getClock().slot + 2n);
  const own = computeSolanaInbox(scene.payTerms, { program: program.address, tokenProgram });
  scene.deposit(own, 1_000_000n);
  const before = world.units(scene.payoutAccount);
  world.must([scene.stranger], [buildSettle([own])]);
  assert.equal(world.units(scene.payoutAccount) - before, 995_000n);
});

test("nobody upgrades, closes or takes over the final program, not even its deployer", () => {
  const data = programDataAddress(program.address);
  const buffer = createKeypair().address;
  const [rent, clock] = ["SysvarRent111111111111111111111111111111111", "SysvarC1ock11111111111111111111111111111111"];
  const code = world.account(data)?.data ?? assert.fail();
  const bufferData = Buffer.concat([u32(1), Buffer.of(1), Buffer.alloc(32), code.subarray(45)]);
  world.put(buffer, { owner: UPGRADEABLE_LOADER, data: bufferData });
  for (const key of [operator, thief, program]) {
    const signer = signerMeta(key.address);
    const upgrade = [data, program.address, buffer, key.address].map(writableMeta);
    const attempts = [
      instruction(UPGRADEABLE_LOADER, [...upgrade, readonlyMeta(rent), readonlyMeta(clock), signer], u32(3)),
      instruction(
        UPGRADEABLE_LOADER,
        [writableMeta(data), writableMeta(key.address), signer, writableMeta(program.address)],
        u32(5),
      ),
      instruction(UPGRADEABLE_LOADER, [writableMeta(data), signer, readonlyMeta(key.address)], u32(4)),
      buildFinalize({ payer: key.address, program: program.address }),
    ];
    for (const attempt of attempts)
      assert.equal(world.send([thief, ...(key === thief ? [] : [key])], [attempt]).ok, false);
  }
  assert.ok(world.account(data)?.data.equals(code));
});

test("an interrupted run is continued; other code and another's authority are refused", async () => {
  const data = programDataAddress(program.address);
  const [original, owner] = [world.account(data)?.data ?? assert.fail(), UPGRADEABLE_LOADER];
  const withAuthority = (key: string) => {
    const changed = Buffer.from(original);
    changed.writeUInt8(1, 12);
    keyBytes(key).copy(changed, 13);
    return changed;
  };
  world.put(data, { owner, data: withAuthority(thief.address) });
  assert.equal(kindOf(await status(program.address)), "upgradeable");
  const refused = await deploy(program);
  assert.deepEqual([refused.code, /was not made final/.test(refused.err)], [1, true]);
  world.put(data, { owner, data: withAuthority(operator.address) });
  assert.equal((await deploy(program)).code, 0);
  assert.equal(kindOf(await status(program.address)), "present");
  const other = Buffer.from(original);
  other.writeUInt8(other.readUInt8(200) ^ 1, 200);
  for (const changed of [other, Buffer.concat([original, Buffer.of(1)]), original.subarray(0, 60)]) {
    world.put(data, { owner, data: changed });
    assert.equal(kindOf(await status(program.address)), "foreign");
  }
  assert.match((await deploy(program)).err, /has other code than this release/);
  assert.equal(kindOf(await status(scene.mint)), "foreign");
});

test("a start refuses a program that is missing, differs, or can be changed", async () => {
  const data = programDataAddress(program.address);
  const start = (address: string, rpcUrl = server.url) =>
    verifyChains(
      { chains: [], solanaPrograms: [{ name: "Local", address, rpcUrl }] } as unknown as Config,
      new Map(),
      silentLog,
    );
  const final = Buffer.from(world.account(data)?.data ?? []);
  const foreign = Buffer.concat([Buffer.from(final), Buffer.of(1)]);
  world.put(data, { owner: UPGRADEABLE_LOADER, data: foreign });
  await assert.rejects(
    start(program.address),
    /^ChainMismatch: Local: the inbox program \w+ has other code than this release\.$/,
  );
  await assert.rejects(start(createKeypair().address), /is not deployed/);
  const code = Buffer.from(solanaProgramCode, "base64");
  const header = (authority: Buffer) => Buffer.concat([u32(3), Buffer.alloc(8), authority, code]);
  world.put(data, { owner: UPGRADEABLE_LOADER, data: header(Buffer.concat([Buffer.of(1), keyBytes(thief.address)])) });
  await assert.rejects(start(program.address), new RegExp(`can be changed by ${thief.address}`));
  world.put(data, { owner: UPGRADEABLE_LOADER, data: header(Buffer.alloc(33)) });
  await start(program.address);
  await start(program.address, "http://127.0.0.1:1");
});

const SAMPLE = new URL("../../config/testnets.json", import.meta.url);
const GATE = { url: "http://127.0.0.1:1", secretEnv: "TRIBUTARY_GATE_SECRET" };
const VARIABLES = {
  TRIBUTARY_GAS_KEY_BASE_SEPOLIA: `0x${"1a".repeat(32)}`,
  TRIBUTARY_GATE_SECRET: "s".repeat(40),
};

/** The sample with one EVM chain that does not answer, and a Solana cluster. */
function writeConfig(cluster: object): string {
  const config = JSON.parse(readFileSync(SAMPLE, "utf8")) as { chains: object[]; gate?: object };
  config.chains = [
    ...config.chains.slice(0, 1).map((chain) => ({ ...chain, rpcUrls: ["http://127.0.0.1:1"] })),
    { namespace: "solana", tokens: [{ symbol: "USDC", mint: scene.mint, decimals: 6 }], ...cluster },
  ];
  config.gate = GATE;
  const file = join(folder.path, "config.json");
  writeFileSync(file, JSON.stringify(config));
  return file;
}

test("hub status and hub deploy take both kinds of chains from a configuration", async () => {
  const own = createKeypair();
  const urls = { publicRpcUrl: server.url, explorerUrl: "http://explorer.test", rpcUrl: server.url };
  const cluster = { reference: "1".repeat(32), name: "Local Solana", slug: "local-solana", ...urls };
  const file = writeConfig({ ...cluster, program: own.address });
  const run = (...words: string[]) => renderCli(["hub", ...words, "--config", file], VARIABLES);
  const both = await run("status");
  assert.equal(both.code, 1);
  assert.match(both.out, /^✗ Base Sepolia {2}unknown: the chain does not answer$/m);
  assert.match(
    both.out,
    new RegExp(`^✗ Local Solana {2}program ${own.address}: missing: deploy it with .tributary hub`, "m"),
  );
  const keys = ["--key-file", writeKey("payer.json", operator), "--program-key", writeKey("own.json", own)];
  const keyless = await run("deploy", "--chain", "local-solana");
  assert.deepEqual([keyless.code, keyless.out], [2, ""]);
  assert.match(keyless.err, /Missing private key: name its file in --key-file/);
  const other = await run("deploy", "--chain", "local-solana", ...keys.with(3, writeKey("program.json", program)));
  assert.match(
    other.err,
    new RegExp(`--program-key is the key of ${program.address}, and this cluster's program is ${own.address}`),
  );
  const deployed = await run("deploy", "--chain", "local-solana", ...keys);
  assert.deepEqual([deployed.code, deployed.out], [0, `${own.address}: is deployed and final\n`]);
  const found = await run("status", "--chain", "local-solana", "--json");
  assert.equal(found.code, 0);
  assert.deepEqual(JSON.parse(found.out), [
    { chain: `solana:${"1".repeat(32)}`, name: "Local Solana", address: own.address, program: "present" },
  ]);
});

test("a service does not start with the address that stands for a program", async () => {
  const devnet = { reference: "EtWTRABZaYq6iMfeYKouRu166VU2xqa1", rpcUrl: server.url };
  for (const cluster of [devnet, { ...devnet, program: placeholderProgram }]) {
    const { code, err } = await renderCli(["serve", "--check", "--config", writeConfig(cluster)], VARIABLES);
    assert.equal(code, 2);
    assert.match(
      err,
      /^error: chains\[1\]\.program: \w+ stands for a program that is on no public cluster yet; deploy/,
    );
  }
});
