import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { computeInboxAddress } from "@tributary/inbox/address";
import { firstHubCreationCode } from "@tributary/inbox/firstHubCode";
import { hubAddress, hubSalt } from "@tributary/inbox/hub";
import { hubCreationCode } from "@tributary/inbox/hubCode";
import { currentHub, firstHub, hubs, type Hub } from "@tributary/inbox/hubs";
import type { Hex } from "@tributary/inbox/terms";
import { pino } from "pino";
import { keccak256 } from "viem";
import { inboxTerms, FEE_RECIPIENT } from "../../../../test/conformance/inboxTerms.ts";
import { startTestChain, type TestChain } from "../../../../test/support/chain.ts";
import { openTestDatabase } from "../../../../test/support/database.ts";
import { TEST_CHAIN_CONFIG } from "../../../../test/support/stationWorld.ts";
import type { Db } from "../../../db/database.ts";
import { startAnvil, type Anvil } from "../../../dev/chains/anvil.ts";
import { deployHub } from "../../../dev/chains/contracts.ts";
import { createDevClient } from "../../../dev/chains/devClient.ts";
import { DEV_ACCOUNTS } from "../../../dev/devAccounts.ts";
import { systemClock } from "../../../kernel/clock.ts";
import { caip2 } from "../../../kernel/caip.ts";
import type { ChainSender, SettleItem } from "../../sender.ts";
import { createEvmChain } from "../openEvmChain.ts";
import { openEvmNode } from "../rpcNode.ts";
import { openGasAccount } from "./gasAccount.ts";
import { evmTerms, settleManyCall } from "./settleCall.ts";

const payoutOf = (item: SettleItem | undefined) => (item === undefined ? "" : evmTerms(item).payout);

const { operator, issuer } = DEV_ACCOUNTS;
const log = pino({ level: "silent" });

function openSender({ chainId, rpcUrl }: { chainId: number; rpcUrl: string }): ChainSender {
  const nodes = [openEvmNode({ caip2: caip2("eip155", String(chainId)), rpcUrl })] as const;
  return createEvmChain({ nodes, gasAccount: openGasAccount(operator.privateKey) }, { clock: systemClock, log }).sender;
}

describe("settling inboxes of several hubs", () => {
  let chain: TestChain;
  let db: Db;
  let sender: ChainSender;
  let salt = 0;
  before(async () => {
    [chain, db] = await Promise.all([startTestChain(), openTestDatabase("postgres")]);
    await deployHub(chain.client, issuer, { creationCode: firstHubCreationCode, salt: firstHub.salt });
    sender = openSender(chain);
  });
  after(async () => {
    await chain.stop();
    await db.close();
  });

  const world = () => ({ db, clock: systemClock, log });
  const balance = (owner: string) => chain.balanceOf(chain.usdc.address, owner as Hex);

  /** Items of one hub whose inboxes hold 10,000 units, with one payout for all. */
  async function paidItems(hub: Hub, count: number): Promise<SettleItem[]> {
    const items: SettleItem[] = [];
    salt += 1_000;
    const payout = `0x${salt.toString(16).padStart(40, "b")}`;
    for (let index = 0; index < count; index += 1) {
      const token = chain.usdc.address;
      const terms = inboxTerms(chain.chainId, { salt: salt + index, token, payout });
      const inbox = computeInboxAddress(terms, hub);
      await chain.mint(token, inbox, 10_000n);
      items.push({ inbox, token, hub: hub.address, terms });
    }
    return items;
  }

  async function settle(items: readonly SettleItem[]) {
    const prepared = await sender.prepare(world(), items);
    assert.ok(prepared);
    await db.transaction((tx) => prepared.store(tx, systemClock.now()));
    await sender.process(world());
    await chain.untilMined();
    const rows = await db.root.selectFrom("outgoing_transaction").selectAll().orderBy("id").execute();
    return rows.at(-1) ?? assert.fail();
  }

  for (const hub of hubs) {
    for (const count of [1, 2, 5]) {
      test(`${count} inboxes of the hub of version ${hub.version} are settled in one transaction`, async () => {
        const items = await paidItems(hub, count);
        assert.deepEqual(
          await sender.refusals(items),
          items.map(() => undefined),
        );
        const { recipient } = await settle(items);
        assert.equal(recipient, hub.address);
        assert.equal(await balance(payoutOf(items[0])), BigInt(count) * 9_950n);
      });
    }

    test(`a blocked fee wallet forfeits its fee at the hub of version ${hub.version}`, async (t) => {
      await chain.blocklist(chain.usdc.address, FEE_RECIPIENT);
      t.after(() => chain.unblocklist(chain.usdc.address, FEE_RECIPIENT));
      const items = await paidItems(hub, 3);
      const { gas_limit: gasLimit, data } = await settle(items);
      assert.equal(await balance(payoutOf(items[0])), 30_000n);
      assert.ok(data?.startsWith(settleManyCall(items).data.slice(0, 10)), "settled one by one");
      assert.ok(gasLimit !== null && gasLimit < 3_000_000n, `${gasLimit}`);
    });
  }

  test("items of two hubs never share a batch", async () => {
    const items = [...(await paidItems(firstHub, 2)), ...(await paidItems(currentHub, 2))];
    const [one, two, three, four] = sender.batchKeys(items);
    assert.equal(one, two);
    assert.equal(three, four);
    assert.notEqual(one, three);
    await assert.rejects(sender.prepare(world(), items), /a batch mixes the hubs/);
  });
});

describe("start-up and the hub of a chain", () => {
  let anvil: Anvil;
  let shanghai: Anvil;
  before(async () => {
    [anvil, shanghai] = await Promise.all([
      startAnvil({ chainId: 900_011 }),
      startAnvil({ chainId: 900_012, hardfork: "shanghai" }),
    ]);
  });
  after(() => Promise.all([anvil.stop(), shanghai.stop()]));

  test("a chain without the hub is refused, and one with it is accepted", async () => {
    const client = createDevClient(anvil.rpcUrl);
    await assert.rejects(openSender(anvil).verify(TEST_CHAIN_CONFIG), /has no hub at 0x/);
    await client.setCode({ address: hubAddress, bytecode: "0x00" });
    await assert.rejects(openSender(anvil).verify(TEST_CHAIN_CONFIG), /that does not settle as the hub does/);
    await client.setCode({ address: hubAddress, bytecode: "0x" });
    await client.setBalance({ address: issuer.address, value: 10n ** 18n });
    await deployHub(client, issuer, { creationCode: hubCreationCode, salt: hubSalt });
    await openSender(anvil).verify(TEST_CHAIN_CONFIG);
  });

  test("a chain with the rules of Shanghai is refused with the name of the hard fork, with and without the hub's code", async () => {
    const client = createDevClient(shanghai.rpcUrl);
    const expected = /lacks transient storage \(EIP-1153\).*hard fork Cancun/;
    await assert.rejects(openSender(shanghai).verify(TEST_CHAIN_CONFIG), expected);
    await client.setBalance({ address: issuer.address, value: 10n ** 18n });
    await assert.rejects(deployHub(client, issuer, { creationCode: hubCreationCode, salt: hubSalt }));
    assert.equal(await client.getCode({ address: hubAddress }), undefined, "the hub deploys where it cannot settle");
    const code = await createDevClient(anvil.rpcUrl).getCode({ address: hubAddress });
    assert.ok(code && keccak256(code) === currentHub.codeHash);
    await client.setCode({ address: hubAddress, bytecode: code });
    await assert.rejects(openSender(shanghai).verify(TEST_CHAIN_CONFIG), expected);
  });
});
