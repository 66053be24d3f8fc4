import assert from "node:assert/strict";
import { hubAddress, implementationAddress } from "@tributary/inbox/hub";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { systemClock } from "../../kernel/clock.ts";
import { DEV_ACCOUNTS, DEV_ROLES, FUNDED_ROLES } from "../devAccounts.ts";
import { createDevClient } from "./devClient.ts";
import { compactFiatToken } from "./compactFiatToken.ts";
import { deployedAddress, deployHub, type Deployment } from "./contracts.ts";
import code from "./fiatToken.generated.json" with { type: "json" };
import { startLocalChains } from "./localChains.ts";
import { balanceOf, fiatTokenAbi } from "./tokens.ts";

/** A contract with one byte of code. */
const MINIMAL_CONTRACT: Deployment = { creationCode: "0x60018060093d393df300", salt: `0x${"00".repeat(32)}` };
const CHAINS = [
  { chainId: 900_001, name: "One" },
  { chainId: 900_002, name: "Two" },
];
/** They start in two seconds; a busy machine may take far longer. A call that hangs takes minutes. */
const READY_MS_MAX = 60_000;

test("the generated token code matches the package", () => {
  assert.deepEqual(code, compactFiatToken());
});

test("every role has its own account", () => {
  const addresses = DEV_ROLES.map((role) => DEV_ACCOUNTS[role].address);
  assert.equal(new Set(addresses).size, DEV_ROLES.length);
  for (const address of addresses) assert.match(address, /^0x[0-9a-f]{40}$/);
});

test("a chain like public ones has blocks with one time, and its node refuses lists of receipts", async (t) => {
  const world = await startLocalChains({ chains: CHAINS.slice(0, 1), isLikePublic: true });
  t.after(() => world.stop());
  const [chain] = world.chains;
  assert.ok(chain?.nodeUrl !== undefined);
  const [anvil, node] = [createDevClient(chain.rpcUrl), createDevClient(chain.nodeUrl)];
  const head = await node.getBlock();
  const times = await Promise.all([1n, 2n, 3n, 4n].map((back) => node.getBlock({ blockNumber: head.number - back })));
  assert.ok(new Set(times.map(({ timestamp }) => timestamp)).size < times.length);
  const receipts = { method: "eth_getBlockReceipts", params: ["latest"] } as never;
  assert.ok(Array.isArray(await anvil.request(receipts)));
  await assert.rejects(node.request(receipts), /403/);
});

test("two chains start with hub, both tokens and a funded payer", async (t) => {
  const startedMs = systemClock.monotonicMs();
  const world = await startLocalChains({ chains: CHAINS });
  t.after(() => world.stop());
  assert.ok(systemClock.monotonicMs() - startedMs < READY_MS_MAX);
  assert.deepEqual(
    world.chains.map(({ caip2, name }) => ({ caip2, name })),
    [
      { caip2: "eip155:900001", name: "One" },
      { caip2: "eip155:900002", name: "Two" },
    ],
  );
  for (const chain of world.chains) {
    const client = createDevClient(chain.rpcUrl);
    assert.equal(await client.getChainId(), chain.chainId);
    assert.equal(chain.hub, hubAddress);
    assert.ok(await client.getCode({ address: hubAddress }));
    assert.ok(await client.getCode({ address: implementationAddress }));
    assert.deepEqual(
      chain.tokens.map(({ symbol, decimals }) => [symbol, decimals]),
      [
        ["USDC", 6],
        ["DUSD", 18],
      ],
    );
    for (const token of chain.tokens) {
      const contract = { address: token.address, abi: fiatTokenAbi } as const;
      assert.equal(await client.readContract({ ...contract, functionName: "symbol" }), token.symbol);
      assert.equal(await client.readContract({ ...contract, functionName: "decimals" }), token.decimals);
      assert.equal(await client.readContract({ ...contract, functionName: "version" }), "2");
      const held = await balanceOf(client, token.address, DEV_ACCOUNTS.payer.address);
      assert.equal(held, 10_000_000n * 10n ** BigInt(token.decimals));
    }
    assert.equal(world.payer, DEV_ACCOUNTS.payer);
    for (const role of DEV_ROLES) {
      const held = await client.getBalance({ address: DEV_ACCOUNTS[role].address });
      assert.equal(held > 0n, FUNDED_ROLES.includes(role), role);
    }
  }
});

test("token addresses are the same in every run and differ between chains", async (t) => {
  const [one, again] = [await startLocalChains({ chains: CHAINS }), await startLocalChains({ chains: CHAINS })];
  t.after(() => Promise.all([one.stop(), again.stop()]));
  const tokensOf = ({ chains }: typeof one) => chains.flatMap(({ tokens }) => tokens.map(({ address }) => address));
  assert.deepEqual(tokensOf(one), tokensOf(again));
  assert.equal(new Set(tokensOf(one)).size, 4);
  assert.equal(one.chains[0]?.hub, one.chains[1]?.hub);
});

test("a stored world has the same chains and tokens after a restart", async (t) => {
  const stateDirectory = mkdtempSync(join(tmpdir(), "tributary-chains-"));
  t.after(() => rmSync(stateDirectory, { recursive: true, force: true }));
  const first = await startLocalChains({ chains: CHAINS, stateDirectory });
  await first.stop();
  const second = await startLocalChains({ chains: CHAINS, stateDirectory });
  t.after(() => second.stop());
  const identitiesOf = ({ chains }: typeof first) => chains.map((chain) => ({ ...chain, rpcUrl: "" }));
  assert.deepEqual(identitiesOf(second), identitiesOf(first));
});

test("when one chain does not start, the others stop", async (t) => {
  const stateDirectory = mkdtempSync(join(tmpdir(), "tributary-chains-"));
  t.after(() => rmSync(stateDirectory, { recursive: true, force: true }));
  mkdirSync(join(stateDirectory, "900001"));
  writeFileSync(join(stateDirectory, "900001", "genesis.json"), "another chain");
  await assert.rejects(startLocalChains({ chains: CHAINS, stateDirectory }), /belongs to the chain another chain/);
  // A second chain that still runs would hold the lock of its folder.
  const second = await startLocalChains({ chains: CHAINS.slice(1), stateDirectory });
  await second.stop();
});

test("a hub is deployed once, and a failed deployment throws", async (t) => {
  const world = await startLocalChains({ chains: CHAINS.slice(0, 1) });
  t.after(() => world.stop());
  const [chain] = world.chains;
  assert.ok(chain);
  const client = createDevClient(chain.rpcUrl);
  const other: Deployment = { ...MINIMAL_CONTRACT, salt: `0x${"01".repeat(32)}` };
  assert.equal(await deployHub(client, DEV_ACCOUNTS.stranger, other), deployedAddress(other));
  const nonce = await client.getTransactionCount({ address: DEV_ACCOUNTS.stranger.address });
  assert.equal(await deployHub(client, DEV_ACCOUNTS.stranger, other), deployedAddress(other));
  assert.equal(await client.getTransactionCount({ address: DEV_ACCOUNTS.stranger.address }), nonce);
  const empty: Deployment = { creationCode: "0x", salt: `0x${"02".repeat(32)}` };
  await assert.rejects(deployHub(client, DEV_ACCOUNTS.stranger, empty), /was not deployed|reverted/);
});
