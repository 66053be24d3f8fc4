import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, afterEach, before, describe, test } from "node:test";
import { buildReceiveMessage } from "@tributary/inbox/solana/cctpInstructions";
import { computeInboxAddress } from "@tributary/inbox/address";
import { currentHub } from "@tributary/inbox/hubs";
import { computeSolanaInbox } from "@tributary/inbox/solana/address";
import { deriveTokenAccount } from "@tributary/inbox/solana/derive";
import { buildSettle, type SolanaInstruction } from "@tributary/inbox/solana/instructions";
import { tokenProgram } from "@tributary/inbox/solana/keys";
import { expectSolanaPayout } from "@tributary/inbox/solana/verify";
import { solanaTermsFromWire } from "@tributary/inbox/solana/wire";
import { expectSolanaPayout as expectShopPayout } from "@tributary/sdk/solana/verify";
import { hubAbi } from "@tributary/inbox/hubAbi";
import { verifyInbox } from "@tributary/inbox/verify";
import { encodeFunctionData, hexToBytes, type Hex } from "viem";
import { DEFAULT_SETTINGS } from "../../src/dev/attestation/localAttestation.ts";
import { DEV_ACCOUNTS } from "../../src/dev/devAccounts.ts";
import { sendCallsOrThrow } from "../../src/dev/chains/devClient.ts";
import { intentRecordWithRoutes } from "../../src/intent/intentRecord.ts";
import { toInboxTerms } from "../../src/intent/inboxTerms.ts";
import { findIntentRoutes } from "../../src/intent/routes/findRoutes.ts";
import { leavesOf, proofOf, toRoute } from "../../src/intent/routes/routeSet.ts";
import type { IntentRow } from "../../src/intent/store.ts";
import { showIntent } from "../../src/operator/intentOperations.ts";
import { toJson } from "../../src/operator/process/terminal.ts";
import { settlementRecord } from "../../src/settlement/change/settlementRecord.ts";
import { CCTP_FEE_RECIPIENT } from "../../packages/local-solana/src/cctpDouble.ts";
import { LOCAL_INBOX_PROGRAM, LOCAL_MINTS, SOLANA_ACCOUNTS } from "../../packages/local-solana/src/fixtures.ts";
import { createTokenAccount, transferTokens } from "../../packages/local-solana/src/instructions.ts";
import { renderCli, temporaryFolder } from "../support/cli.ts";
import { sendVersion1 } from "../support/solanaKit.ts";
import { openSolanaCrossing, type SolanaCrossingRoad } from "../support/solanaCrossing.ts";

const USDC = 1_000_000n;
const { feeRecipient, payer, stranger } = SOLANA_ACCOUNTS;
const mint = LOCAL_MINTS.USDC.address;

describe("paying on an EVM chain and settling on Solana", () => {
  let road: SolanaCrossingRoad;
  before(async () => {
    road = await openSolanaCrossing();
  });
  afterEach(() => {
    // The last known fees stay in use for a minute.
    road.advance(120_000);
    Object.assign(road.attestation.settings, DEFAULT_SETTINGS);
    road.attestation.setAnswering(true);
    road.setReceiving(true);
  });
  after(() => road.close());

  const amountsOf = async (intent: IntentRow) =>
    (await road.settlements(intent)).map((row) => {
      const { status, grossUnits, routeCostUnits, feeUnits, netUnits } = settlementRecord(row);
      return [status, ...[grossUnits, routeCostUnits, feeUnits, netUnits].map(Number)];
    });

  test("1,000 USDC by a fast crossing pay 994.870650 to the merchant, 4.999350 to the platform and 0.130000 to the bridge", async () => {
    const intent = await road.createOnSolana({ priceUnits: 1_000_000_000, oneTime: true });
    const inbox = await road.issueOnEvm(intent);
    const owners = [road.payoutOnSolana, feeRecipient.address];
    const before = owners.map((owner) => road.unitsOf(owner));
    await road.payOnEvm(inbox, 1_000n * USDC);
    await road.until(async () => (await road.intent(intent)).status === "settled");
    assert.notEqual((await road.settlements(intent))[0]?.status, "landed", "it counts before it crosses");
    await road.untilLanded(intent);
    assert.deepEqual(
      owners.map((owner, index) => road.unitsOf(owner) - (before[index] ?? 0n)),
      [994_870_650n, 4_999_350n],
    );
    const [settlement] = (await road.settlements(intent)).map(settlementRecord);
    const chains = settlement?.txs.map(({ chain }) => chain);
    assert.deepEqual(chains, [road.home.caip2, `solana:${road.solana.reference}`]);
    assert.deepEqual(await amountsOf(intent), [["landed", 1_000_000_000, 130_000, 4_999_350, 994_870_650]]);
  });

  const routesOf = (intent: IntentRow) => findIntentRoutes({ db: road.db.root, memory: road.world.memory }, intent);
  const statusIs = (intent: IntentRow, status: string) => async () =>
    (await road.settlements(intent)).some((each) => each.status === status);
  const crossingsOf = ({ id }: IntentRow) =>
    road.db.root.selectFrom("crossing").selectAll().where("intent_id", "=", id).execute();
  const accountOf = (intent: IntentRow) => deriveTokenAccount(intent.inbox_address, mint, tokenProgram).address;
  /** Burns the inbox as a stranger, by a route of his choice. Returns the transaction's hash. */
  const burnAsStranger = async (intent: IntentRow, speed: "fast" | "standard") => {
    const routes = await routesOf(intent);
    const route = leavesOf(routes).find((each) => each.speed === speed);
    assert.ok(route);
    const args = [toInboxTerms(intent), toRoute(route), proofOf(routes, route), "0x"] as const;
    const data = encodeFunctionData({ abi: hubAbi, functionName: "bridge", args });
    const [receipt] = await sendCallsOrThrow(road.home.client, DEV_ACCOUNTS.stranger, [{ to: road.home.hub, data }]);
    return receipt?.transactionHash ?? assert.fail();
  };
  /** The receipt of the only burn of a transaction, for anybody to send. Default: of the intent's only crossing. */
  const receiptOf = async (intent: IntentRow, by: string, burnTx?: string): Promise<SolanaInstruction> => {
    const chainTx = burnTx ?? (await crossingsOf(intent))[0]?.chain_tx;
    const response = await fetch(`${road.attestation.url}/v2/messages/0?transactionHash=${chainTx}`);
    const { messages } = (await response.json()) as { messages: { message: Hex; attestation: Hex }[] };
    const [signed] = messages;
    assert.ok(signed);
    const proof = { message: hexToBytes(signed.message), attestation: hexToBytes(signed.attestation) };
    return buildReceiveMessage(proof, { payer: by, mint, feeRecipient: CCTP_FEE_RECIPIENT });
  };
  const openAs = (from: typeof payer, intent: IntentRow) =>
    createTokenAccount(from.address, { owner: intent.inbox_address, mint });

  test("anybody verifies the address on the EVM chain, and that it can only cross to the intent's inbox on Solana", async () => {
    const intent = await road.createOnSolana();
    const { address } = await road.issueOnEvm(intent);
    const { inboxTerms } = intentRecordWithRoutes(intent, await routesOf(intent), road.world.config);
    assert.ok(inboxTerms.solana);
    const expectedOnSolana = {
      kind: "pay",
      address: intent.inbox_address,
      cluster: road.solana.reference,
      program: inboxTerms.solana.program,
      mint,
      payoutWallet: road.payoutOnSolana,
      feeBpsMax: 50,
    } as const;
    const zero = `0x${"00".repeat(20)}`;
    const { messenger, transmitter, domain } = road.side.bridge;
    const chain = { chainId: BigInt(road.home.chainId), domain, messenger, transmitter, usdc: road.side.token };
    const expected = {
      inboxAddress: address,
      payoutWallet: zero,
      token: zero,
      chainId: 0,
      feeBpsMax: 0,
      recovery: DEV_ACCOUNTS.recoveryFirst.address,
      bridges: { cctpV2Chains: [chain] },
      solana: expectSolanaPayout(expectedOnSolana),
    };
    assert.deepEqual(verifyInbox(inboxTerms, expected), { ok: true });
    const { kind: _, address: onSolana, ...ofShop } = expectedOnSolana;
    const inboxes = [
      { namespace: "solana", address: onSolana },
      { namespace: "eip155", address },
    ];
    const shop = { ...ofShop, bridges: expected.bridges };
    const check = expectShopPayout({ ...shop, evmRecovery: expected.recovery });
    assert.equal(check({ terms: inboxTerms, inboxes }), true, check.reason);
    const withoutRecovery = expectShopPayout(shop);
    assert.deepEqual(
      [withoutRecovery({ terms: inboxTerms, inboxes }), withoutRecovery.reason],
      [false, "wrong_recovery"],
    );
    const other = await road.createOnSolana();
    const elsewhere = {
      ...expected,
      solana: expectSolanaPayout({ ...expectedOnSolana, address: other.inbox_address }),
    };
    assert.equal(verifyInbox(inboxTerms, elsewhere).ok, false, "routes to another intent's inbox");
  });

  test("a dear fast fee makes it take the standard crossing, which costs nothing", async () => {
    road.attestation.settings.fastFeeBps = 10;
    const intent = await road.createOnSolana();
    await road.payOnEvm(await road.issueOnEvm(intent), 100n * USDC);
    await road.untilLanded(intent);
    assert.deepEqual(await amountsOf(intent), [["landed", 100_000_000, 0, 500_000, 99_500_000]]);
  });

  test("D41 a stranger who bridges the inbox changes nothing, also when he takes another way than the service would", async () => {
    const intent = await road.createOnSolana();
    await road.payOnEvm(await road.issueOnEvm(intent), 50n * USDC);
    await burnAsStranger(intent, "standard");
    await road.untilLanded(intent);
    assert.deepEqual(await amountsOf(intent), [["landed", 50_000_000, 0, 250_000, 49_750_000]]);
    assert.equal((await road.intent(intent)).counted_units, 50n * USDC);
  });

  test("D41 a stranger who receives it beside a payment of his own adds his payment, and nothing twice", async () => {
    const intent = await road.createOnSolana();
    road.setReceiving(false);
    await road.payOnEvm(await road.issueOnEvm(intent), 60n * USDC);
    await road.until(async () => (await crossingsOf(intent))[0]?.status === "attested");
    const receipt = await receiptOf(intent, payer.address);
    const paid = { to: accountOf(intent), owner: payer.address, mint, units: 3n * USDC, program: tokenProgram };
    const from = deriveTokenAccount(payer.address, mint, tokenProgram).address;
    road.solana.control.send([payer], [openAs(payer, intent)]);
    // Both fit into a transaction of version 1 alone.
    await sendVersion1(road.solana, { payer, instructions: [transferTokens({ ...paid, from }), receipt] });
    road.setReceiving(true);
    await road.until(async () => (await road.intent(intent)).counted_units === 63n * USDC);
    await road.untilLanded(intent, 2);
    assert.equal((await road.intent(intent)).counted_units, 63n * USDC);
    const gross = (await road.settlements(intent)).map(settlementRecord).map(({ grossUnits }) => Number(grossUnits));
    assert.deepEqual(new Set(gross), new Set([3_000_000, 60_000_000]));
  });

  test("D41 a stranger who receives and settles it before this service changes nothing", async () => {
    const intent = await road.createOnSolana();
    road.setReceiving(false);
    await road.payOnEvm(await road.issueOnEvm(intent), 70n * USDC);
    await road.until(async () => (await crossingsOf(intent))[0]?.status === "attested");
    const { solana } = intentRecordWithRoutes(intent, await routesOf(intent), road.world.config).inboxTerms;
    assert.ok(solana);
    road.solana.control.send([stranger], [openAs(stranger, intent)]);
    road.solana.control.send([stranger], [await receiptOf(intent, stranger.address)]);
    road.solana.control.send([stranger], [buildSettle([computeSolanaInbox(solanaTermsFromWire(solana), solana)])]);
    road.setReceiving(true);
    await road.untilLanded(intent);
    assert.deepEqual(await amountsOf(intent), [["landed", 70_000_000, 9_100, 349_954, 69_640_946]]);
    assert.equal((await road.intent(intent)).counted_units, 70n * USDC);
  });

  test("D41 a stranger's receipt with bytes behind its signatures counts nothing twice", async () => {
    const intent = await road.createOnSolana({ priceUnits: 150_000_000, oneTime: true });
    road.setReceiving(false);
    await road.payOnEvm(await road.issueOnEvm(intent), 100n * USDC);
    await road.until(async () => (await crossingsOf(intent))[0]?.status === "attested");
    const receipt = await receiptOf(intent, payer.address);
    // Anchor reads what it knows of the data, and ignores the rest.
    const padded = { ...receipt, data: Uint8Array.from([...receipt.data, ...new Uint8Array(1_000).fill(7)]) };
    await sendVersion1(road.solana, { payer, instructions: [openAs(payer, intent), padded] });
    road.setReceiving(true);
    await road.untilLanded(intent);
    const { counted_units: counted, status } = await road.intent(intent);
    assert.deepEqual([counted, status], [100n * USDC, "active"]);
  });

  const beforeIssued = (isSettled: boolean) => async () => {
    const intent = await road.createOnSolana({ priceUnits: 150_000_000, oneTime: true });
    const address = computeInboxAddress(toInboxTerms(intent), currentHub);
    await road.payOnEvm({ address }, 100n * USDC);
    const burnTx = await burnAsStranger(intent, "fast");
    await fetch(`${road.attestation.url}/v2/messages/0?transactionHash=${burnTx}`);
    road.advance(60_000);
    road.solana.control.send([payer], [openAs(payer, intent)]);
    const { solana } = intentRecordWithRoutes(intent, await routesOf(intent), road.world.config).inboxTerms;
    assert.ok(solana);
    const settle = buildSettle([computeSolanaInbox(solanaTermsFromWire(solana), solana)]);
    const receipt = await receiptOf(intent, payer.address, burnTx);
    await sendVersion1(road.solana, { payer, instructions: isSettled ? [receipt, settle] : [receipt] });
    const movements = () =>
      road.db.root.selectFrom("movement").selectAll().where("intent_id", "=", intent.id).execute();
    await road.until(async () => (await movements()).length > 0);
    assert.equal((await road.issueOnEvm(intent)).address.toLowerCase(), address);
    await road.home.finalize();
    await road.until(async () => (await crossingsOf(intent)).length > 0 && !(await statusIs(intent, "planned")()));
    const { counted_units: counted, status } = await road.intent(intent);
    assert.deepEqual([counted, status], [100n * USDC, "active"]);
    await road.untilLanded(intent);
  };
  test("D41 what a stranger crosses out of the inbox before it is issued counts once", beforeIssued(false));
  test("D41 and so does what he settles in the transaction that receives it", beforeIssued(true));

  test("two burns of one inbox land both, in one settlement on Solana or in two", async () => {
    const intent = await road.createOnSolana();
    const inbox = await road.issueOnEvm(intent);
    road.setReceiving(false);
    const areAttested = (count: number) => async () =>
      (await crossingsOf(intent)).filter(({ status }) => status === "attested").length === count;
    for (const [index, units] of [11n, 22n].entries()) {
      await road.payOnEvm(inbox, units * USDC);
      await road.until(areAttested(index + 1));
    }
    road.setReceiving(true);
    await road.untilLanded(intent, 2);
    const nets = (await amountsOf(intent)).map(([status, gross, , fee, net]) => [
      status,
      gross,
      Number(fee) + Number(net),
    ]);
    assert.deepEqual(nets, [
      ["landed", 11_000_000, 11_000_000 - 1_430],
      ["landed", 22_000_000, 22_000_000 - 2_860],
    ]);
    assert.equal(road.solana.control.account(accountOf(intent)), undefined, "its rent came back");
  });

  test("a process that begins anew before every step lands it once", async () => {
    const intent = await road.createOnSolana();
    await road.payOnEvm(await road.issueOnEvm(intent), 30n * USDC);
    await road.until(async () => {
      road.restart();
      return (await road.settlements(intent)).some(({ status }) => status === "landed");
    });
    assert.deepEqual(await amountsOf(intent), [["landed", 30_000_000, 3_900, 149_980, 29_846_120]]);
    assert.equal(road.solana.control.account(accountOf(intent)), undefined, "its rent came back");
  });

  test("an account that the issuer froze waits with the reason, and lands once it is thawed", async () => {
    const intent = await road.createOnSolana();
    road.solana.control.send([payer], [openAs(payer, intent)]);
    road.solana.control.setFrozen(accountOf(intent), true);
    await road.payOnEvm(await road.issueOnEvm(intent), 40n * USDC);
    await road.until(async () => ((await crossingsOf(intent))[0]?.reason ?? "").includes("17"));
    road.solana.control.setFrozen(accountOf(intent), false);
    road.solana.control.confirm();
    road.advance(3_600_000);
    await road.untilLanded(intent);
  });

  test("while the bridge's service is silent the payment counts, and it lands later", async () => {
    const intent = await road.createOnSolana({ priceUnits: 10_000_000, oneTime: true });
    const inbox = await road.issueOnEvm(intent);
    road.attestation.setAnswering(false);
    await road.payOnEvm(inbox, 10n * USDC);
    await road.until(statusIs(intent, "bridging"));
    assert.equal((await road.intent(intent)).status, "settled");
    road.advance(600_000);
    road.attestation.setAnswering(true);
    await road.untilLanded(intent);
  });

  test("an expired proof is asked for anew, and lands", async () => {
    road.attestation.settings.expiresAfterBlocks = 1n;
    const intent = await road.createOnSolana();
    road.setReceiving(false);
    await road.payOnEvm(await road.issueOnEvm(intent), 20n * USDC);
    await road.until(async () => (await crossingsOf(intent))[0]?.status === "attested");
    road.solana.control.nextSlot(5);
    road.solana.control.send([payer], [openAs(payer, intent)]);
    road.attestation.settings.expiresAfterBlocks = 86_400n;
    road.setReceiving(true);
    await road.until(async () => (await crossingsOf(intent))[0]?.reason?.includes("anew") === true);
    await road.untilLanded(intent);
    assert.equal((await amountsOf(intent))[0]?.[0], "landed");
  });

  test("without the service a stranger bridges, receives and settles it by the command alone", async () => {
    const folder = temporaryFolder();
    const write = (name: string, content: string) => {
      writeFileSync(join(folder.path, name), content);
      return join(folder.path, name);
    };
    const intent = await road.createOnSolana();
    const inbox = await road.issueOnEvm(intent);
    const file = write("intent.json", toJson(await showIntent.run(road.world, { intentId: intent.id })));
    const { domain, messenger, transmitter } = road.side.bridge;
    const { chainId, token: usdc } = road.side;
    const bridges = write("bridges.json", JSON.stringify([{ chainId, domain, messenger, transmitter, usdc }]));
    const key = write("key.json", JSON.stringify([...stranger.seed, ...stranger.publicKey]));
    const options = ["--bridges", bridges, "--attestation-url", road.attestation.url, "--json"];
    await road.payOnEvm(inbox, 80n * USDC);
    const byKey = { TRIBUTARY_RECOVER_KEY: DEV_ACCOUNTS.stranger.privateKey };
    const burned = await renderCli(["recover", file, "--rpc", road.home.rpcUrl, "--bridge", ...options], byKey);
    assert.equal(burned.code, 0, burned.err);
    const [{ acts }] = JSON.parse(burned.out) as [{ acts: { what: string; txHash: string }[] }];
    const burnTx = acts.find(({ what }) => what === "bridge")?.txHash ?? assert.fail(burned.out);
    await road.home.finalize();
    road.advance(60_000);
    const before = road.unitsOf(road.payoutOnSolana);
    // The command waits until each transaction is confirmed.
    const slots = setInterval(() => road.solana.control.nextSlot(), 20);
    const onSolana = ["--rpc", road.solana.url, "--program", LOCAL_INBOX_PROGRAM, "--key-file", key];
    const received = await renderCli(["recover", file, ...onSolana, "--receive", burnTx, ...options]);
    clearInterval(slots);
    folder.remove();
    assert.equal(received.code, 0, received.err);
    assert.equal(road.unitsOf(road.payoutOnSolana) - before, 79_600_000n);
    await road.untilLanded(intent);
    assert.deepEqual(await amountsOf(intent), [["landed", 80_000_000, 0, 400_000, 79_600_000]]);
  });

  test("D42a without a recovery key on EVM chains there is no inbox there", async () => {
    const intent = await road.createOnSolana({}, null);
    await assert.rejects(road.issueOnEvm(intent), { code: "source_inbox_not_active" });
    assert.equal(intent.hop_recovery, null);
  });
});
