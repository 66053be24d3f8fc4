import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { computeInboxAddress } from "@tributary/inbox/address";
import { cctpV2AdapterAddress } from "@tributary/inbox/cctpV2Adapter";
import { hubAddress } from "@tributary/inbox/hub";
import { hubAbi } from "@tributary/inbox/hubAbi";
import { settleItemGas } from "@tributary/inbox/hubs";
import { computeRoutesRoot, type Route } from "@tributary/inbox/routes";
import type { Terms } from "@tributary/inbox/terms";
import { buildSettleCall } from "@tributary/recover/contractCalls";
import { sql } from "kysely";
import { encodeFunctionData, erc20Abi, parseAbi, type Abi, type AbiFunction, type Hex } from "viem";
import { DEV_ACCOUNTS } from "../../src/dev/devAccounts.ts";
import { sendCalls } from "../../src/dev/chains/devClient.ts";
import { toInboxTerms } from "../../src/intent/inboxTerms.ts";
import type { IntentRow } from "../../src/intent/store.ts";
import { openRoad, type Road } from "../support/road.ts";

// An attacker has every operator key and write access to the database. The test calls every function with every
// argument combination; no unit may reach an address that the inbox's terms do not name.

const { operator, stranger, payoutFirst, feeRecipient } = DEV_ACCOUNTS;
/** The attacker's address. */
const ATTACKER = stranger.address;
const PAID = 50_000_000n;
const LOST = 3n * 10n ** 18n;
const GAS_LIMIT = 3_000_000n;

const inboxAbi = parseAbi([
  "struct Terms { bytes32 salt; uint64 settleChainId; address settleToken; address payout; address feeRecipient; uint16 feeBps; address recovery; uint48 recoverAfter; bytes32 routesRoot }",
  "struct Route { uint64 chainId; address token; address adapter; uint256 minAmount; bytes config }",
  "function distribute(address token, address payout, uint256 net, address feeRecipient, uint256 fee)",
  "function send(address token, address to, uint256 units)",
  "function bridge(Terms terms, Route route, uint256 units, bytes quote)",
]);

type Attempt = { name: string; to: Hex; data: Hex };

describe("an attacker with the operator's keys and the database", () => {
  let road: Road;
  let intent: IntentRow;
  let terms: Terms;
  let inbox: Hex;

  before(async () => {
    road = await openRoad();
    intent = await road.create({ priceUnits: 100_000_000, oneTime: true });
    terms = toInboxTerms(intent);
    inbox = intent.inbox_address as Hex;
    await road.chain.pay(road.chain.usdc.address, inbox, { amountUnits: PAID });
    await road.chain.pay(road.chain.dusd.address, inbox, { amountUnits: LOST });
  });
  after(() => road.close());

  /** Returns a parameter's values: the true one and those an attacker would try. */
  function argumentsFor(name: string): unknown[] {
    const { usdc, dusd } = road.chain;
    const changes: Partial<Terms>[] = [
      {},
      { payout: ATTACKER },
      { feeRecipient: ATTACKER },
      { feeRecipient: ATTACKER, feeBps: 10_000 },
      { recovery: ATTACKER, recoverAfter: 0 },
      { settleToken: dusd.address },
      { settleToken: dusd.address, payout: ATTACKER },
      { settleChainId: 0n },
      { settleChainId: 1n },
      { routesRoot: computeRoutesRoot([maliciousRoute()]) },
      { routesRoot: computeRoutesRoot([maliciousRoute()]), settleChainId: 1n },
    ];
    const allTerms = changes.map((change) => ({ ...terms, ...change }));
    const addresses: Hex[] = [ATTACKER, operator.address, inbox, hubAddress, usdc.address];
    const takeAll = encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [ATTACKER, PAID] });
    const values: Record<string, unknown[]> = {
      terms: allTerms,
      shared: allTerms,
      items: [...allTerms.map((one) => [one]), allTerms],
      salts: [[terms.salt], [terms.salt, terms.salt]],
      itemGas: [settleItemGas, 0n, 100_000n],
      route: [
        maliciousRoute(),
        { ...maliciousRoute(), adapter: ATTACKER },
        { ...maliciousRoute(), adapter: cctpV2AdapterAddress },
      ],
      proof: [[], [computeRoutesRoot([maliciousRoute()])]],
      quote: ["0x", takeAll],
      transmitter: [...addresses, dusd.address],
      message: ["0x", takeAll],
      attestation: ["0x"],
      token: [usdc.address, dusd.address, hubAddress],
      to: addresses,
      payout: [ATTACKER],
      feeRecipient: [ATTACKER],
      units: [PAID, LOST],
      net: [PAID],
      fee: [PAID, 0n],
    };
    const found = values[name];
    assert.ok(found, `the thief does not know what to say for ${name}: teach it`);
    return found;
  }

  function maliciousRoute(): Route {
    const { chainId, usdc } = road.chain;
    return { chainId: BigInt(chainId), token: usdc.address, adapter: usdc.address, minAmount: 0n, config: "0x" };
  }

  function attemptsOnContract(abi: Abi, to: Hex, contract: string): Attempt[] {
    // The inbox checks its caller before any terms, so true terms are enough.
    const wordsOf = (name: string) => (abi === inboxAbi && name === "terms" ? [terms] : argumentsFor(name));
    const functions = abi.filter(
      (item): item is AbiFunction => item.type === "function" && !/view|pure/.test(item.stateMutability),
    );
    return functions.flatMap((item) =>
      cartesianProduct(item.inputs.map(({ name = "" }) => wordsOf(name))).map((args) => ({
        name: `${contract}.${item.name}`,
        to,
        data: encodeFunctionData({ abi: [item], functionName: item.name, args }),
      })),
    );
  }

  function attemptsOnToken(token: Hex): Attempt[] {
    const call = (functionName: "transferFrom" | "approve" | "transfer", args: readonly unknown[]) => ({
      name: `token.${functionName}`,
      to: token,
      data: encodeFunctionData({ abi: erc20Abi, functionName, args: args as never }),
    });
    return [
      call("transferFrom", [inbox, ATTACKER, PAID]),
      call("approve", [ATTACKER, PAID]),
      call("transfer", [ATTACKER, PAID]),
    ];
  }

  async function readBalances() {
    const { usdc, dusd } = road.chain;
    const balanceOf = (token: Hex, owner: Hex) => road.chain.balanceOf(token, owner);
    const held = await Promise.all(
      [inbox, payoutFirst.address, feeRecipient.address].map((owner) => balanceOf(usdc.address, owner)),
    );
    const [atInbox = 0n, atPayout = 0n, atFee = 0n] = held;
    return { atInbox, atPayout, atFee, lost: await balanceOf(dusd.address, inbox) };
  }

  async function holdsEverything(): Promise<boolean> {
    const { usdc, dusd } = road.chain;
    const held = await Promise.all([usdc, dusd].map(({ address }) => road.chain.balanceOf(address, inbox)));
    return held[0] === PAID && held[1] === LOST;
  }

  test("no call of any function of hub, inbox or adapter sends a unit elsewhere", async () => {
    const { client, usdc, dusd } = road.chain;
    const attempts = [
      ...attemptsOnContract(hubAbi, hubAddress, "hub"),
      ...[inbox, hubAddress, cctpV2AdapterAddress].flatMap((to) => attemptsOnContract(inboxAbi, to, "inbox")),
      ...attemptsOnToken(usdc.address),
      ...attemptsOnToken(dusd.address),
    ];
    assert.ok(attempts.length > 300, `${attempts.length} attempts`);
    // One settlement deploys the inbox contract; a second payment funds it again.
    await sendCalls(client, operator, [buildSettleCall([terms])]);
    await road.chain.pay(usdc.address, inbox, { amountUnits: PAID });
    const start = await readBalances();
    let truePayments = 0;
    let snapshot = await client.snapshot();
    for (const { name, to, data } of attempts) {
      await sendCalls(client, operator, [{ to, data, gasLimit: GAS_LIMIT }]);
      // Most calls leave the inbox as it was: then nothing has gone anywhere.
      if (await holdsEverything()) continue;
      const now = await readBalances();
      assert.equal(
        now.atInbox + now.atPayout + now.atFee,
        start.atInbox + start.atPayout + start.atFee,
        `${name} ${data}`,
      );
      assert.equal(now.lost, LOST, `${name} ${data}`);
      const fee = (PAID * BigInt(terms.feeBps)) / 10_000n;
      assert.equal(now.atFee - start.atFee, fee, `${name} ${data}`);
      truePayments += 1;
      await client.revert({ id: snapshot });
      snapshot = await client.snapshot();
    }
    assert.deepEqual(await readBalances(), start);
    assert.ok(truePayments >= 3, "settle, settleMany, settleNetted and receiveAndSettle do pay, with the true terms");
  });

  test("a changed wallet in the database makes the service settle a different, empty inbox", async () => {
    const { db } = road.world;
    const other = await road.create();
    await road.chain.pay(road.chain.usdc.address, other.inbox_address as Hex, { amountUnits: PAID });
    const setWallet = (wallet: string) =>
      db.transaction(async (tx) => {
        // Triggers protect pinned columns; the database owner can disable them.
        await sql`set local session_replication_role = replica`.execute(tx);
        await tx.updateTable("intent").set({ payout_wallet: wallet }).where("id", "=", other.id).execute();
      });
    await assert.rejects(
      db.root.updateTable("intent").set({ payout_wallet: ATTACKER }).where("id", "=", other.id).execute(),
    );
    await setWallet(ATTACKER);
    const before = await road.balance(ATTACKER);
    for (let turn = 0; turn < 6; turn += 1) await road.tick();
    assert.equal(await road.balance(ATTACKER), before);
    assert.equal(await road.balance(other.inbox_address), PAID);
    assert.equal(computeInboxAddress(toInboxTerms(other)), other.inbox_address);
    // The terms from the create still settle the money to the merchant.
    await sendCalls(road.chain.client, stranger, [buildSettleCall([toInboxTerms(other)])]);
    assert.equal(await road.balance(other.inbox_address), 0n);
    await setWallet(other.payout_wallet);
  });
});

/** All combinations of one item from each list. */
function cartesianProduct(choices: readonly (readonly unknown[])[]): unknown[][] {
  return choices.reduce<unknown[][]>((rows, items) => rows.flatMap((row) => items.map((item) => [...row, item])), [[]]);
}
