import assert from "node:assert/strict";
import { after, afterEach, before, describe, test } from "node:test";
import { verifySolanaInbox } from "@tributary/inbox/solana/verify";
import { computeSolanaInbox, type SolanaInbox } from "@tributary/inbox/solana/address";
import { deriveCctpAccounts, cctpMessenger } from "@tributary/inbox/solana/cctp";
import { deriveTokenAccount } from "@tributary/inbox/solana/derive";
import { buildBridge, readonlyMeta, writableMeta, writableSignerMeta } from "@tributary/inbox/solana/instructions";
import { systemProgram, tokenProgram } from "@tributary/inbox/solana/keys";
import { solanaTermsFromWire } from "@tributary/inbox/solana/wire";
import { toMessageAccount } from "@tributary/inbox/burnMessage";
import { expectPayoutFromSolana } from "@tributary/sdk/solana/verify";
import { reclaimRent } from "../../src/bridge/rent/reclaimRent.ts";
import { DEFAULT_SETTINGS } from "../../src/dev/attestation/localAttestation.ts";
import { intentRecordWithRoutes } from "../../src/intent/intentRecord.ts";
import { findIntentRoutes } from "../../src/intent/routes/findRoutes.ts";
import type { IntentRow } from "../../src/intent/store.ts";
import { settlementRecord } from "../../src/settlement/change/settlementRecord.ts";
import { verifyWithProvider } from "../../src/watch/providers/verifyWithProvider.ts";
import { LOCAL_MINTS, SOLANA_ACCOUNTS } from "../../packages/local-solana/src/fixtures.ts";
import { createKeypair } from "../../packages/local-solana/src/keypairs.ts";
import { payTokens } from "../support/solana.ts";
import { openSolanaCrossing, type SolanaCrossingRoad } from "../support/solanaCrossing.ts";
import { onlyDeep } from "../support/runNumber.ts";

const USDC = 1_000_000n;
const { stranger, payer } = SOLANA_ACCOUNTS;
const mint = LOCAL_MINTS.USDC.address;
const PRIMING = { openTotal: 10, openPerAccount: 10, hourlyPerAccount: 100, keepMs: 600_000 };
let keys = 0;
const newKey = () => createKeypair(new Uint8Array(32).fill((keys += 1)));

describe("paying on Solana and settling on an EVM chain", () => {
  let road: SolanaCrossingRoad;
  before(async () => {
    road = await openSolanaCrossing({ priming: PRIMING });
  });
  afterEach(() => {
    // The last known fees stay in use for a minute.
    road.advance(120_000);
    Object.assign(road.attestation.settings, DEFAULT_SETTINGS);
    road.attestation.setAnswering(true);
  });
  after(() => road.close());

  const amountsOf = async (intent: IntentRow) =>
    (await road.settlements(intent)).map((row) => {
      const { status, grossUnits, routeCostUnits, feeUnits, netUnits } = settlementRecord(row);
      return [status, ...[grossUnits, routeCostUnits, feeUnits, netUnits].map(Number)];
    });
  const inboxOf = async (intent: IntentRow) => {
    const routes = await findIntentRoutes({ db: road.db.root, memory: road.world.memory }, intent);
    const [wire] = intentRecordWithRoutes(intent, routes, road.world.config).inboxTerms.solanaRoutes ?? [];
    assert.ok(wire);
    return { wire, inbox: computeSolanaInbox(solanaTermsFromWire(wire), wire) };
  };
  const statusIs = (intent: IntentRow, status: string) => async () =>
    (await road.settlements(intent)).some((each) => each.status === status);

  /** Burns the inbox as a stranger, by the standard route. Returns the signature. */
  const burnAsStranger = (inbox: SolanaInbox): string => {
    const event = newKey();
    const cctp = deriveCctpAccounts({ mint, domain: 0, sender: inbox.address });
    const options = { cctp, payer: stranger.address, event: event.address, route: 1 } as const;
    return road.solana.control.send([stranger, event], [buildBridge(inbox, options)]);
  };
  const receiveAsStranger = async (burnTx: string): Promise<void> => {
    road.solana.control.finalize();
    // Slots by hand may run ahead of the clock.
    road.advance(60_000);
    const url = `${road.attestation.url}/v2/messages/5?transactionHash=${burnTx}`;
    const { messages } = (await (await fetch(url)).json()) as { messages: { message: string; attestation: string }[] };
    const [proof] = messages;
    assert.ok(proof);
    await road.receive(proof);
  };
  const movements = ({ id }: IntentRow) =>
    road.db.root.selectFrom("movement").selectAll().where("intent_id", "=", id).execute();

  test("1,000 USDC by a fast crossing pay 994.870650 to the merchant, 4.999350 to the platform and 0.130000 to the bridge", async () => {
    const intent = await road.create({ priceUnits: 1_000_000_000, oneTime: true });
    const inbox = await road.issue(intent);
    const before = await road.balances(intent);
    const paid = road.pay(inbox, 1_000n * USDC);
    await road.until(async () => (await road.intent(intent)).status === "settled");
    assert.notEqual((await road.settlements(intent))[0]?.status, "landed", "it counts before it crosses");
    await road.untilLanded(intent);
    const balances = await road.balances(intent);
    assert.deepEqual(
      [balances.payout - before.payout, balances.fee - before.fee, balances.inbox, road.unitsOf(inbox.address)],
      [994_870_650n, 4_999_350n, 0n, 0n],
    );
    const [settlement] = (await road.settlements(intent)).map(settlementRecord);
    const chains = settlement?.txs.map(({ chain }) => chain);
    assert.deepEqual(chains, [`solana:${road.solana.reference}`, road.home.caip2]);
    assert.ok(settlement?.txs.every(({ txHash }) => txHash !== paid));
    assert.equal(road.solana.control.account(inbox.tokenAccount ?? ""), undefined, "its rent came back");
  });

  test("D42a anybody verifies the address on Solana by the terms, and that it can only cross to the intent's inbox", async () => {
    const intent = await road.create();
    const { address, tokenAccount } = await road.issue(intent);
    const { wire, inbox } = await inboxOf(intent);
    assert.deepEqual([address, tokenAccount], [inbox.address, inbox.tokenAccount]);
    const expected = {
      kind: "hop",
      address,
      cluster: road.solana.reference,
      program: wire.program,
      mint,
      recovery: SOLANA_ACCOUNTS.recoveryFirst.address,
      inboxAddress: intent.inbox_address,
      domain: 0,
      feePpmMax: 3_000,
    } as const;
    assert.deepEqual(verifySolanaInbox(wire, expected), { ok: true });
    const other = await road.create();
    const routes = await findIntentRoutes({ db: road.db.root, memory: road.world.memory }, intent);
    const { inboxTerms: terms } = intentRecordWithRoutes(intent, routes, road.world.config);
    const payout = {
      payoutWallet: intent.payout_wallet,
      token: intent.payout_token,
      chainId: road.home.chainId,
      feeBpsMax: 50,
      routesRoot: intent.routes_root as `0x${string}`,
    };
    const { cluster, program, recovery, domain, feePpmMax } = expected;
    const check = expectPayoutFromSolana(payout, [{ cluster, program, mint, recovery, domain, feePpmMax }]);
    const shown = (onSolana: string) => ({ terms, inboxes: [{ namespace: "solana", address: onSolana }] });
    assert.equal(check(shown(address)), true, check.reason);
    assert.equal(check(shown((await road.issue(other)).address)), false, "another payment's inbox");
    const elsewhere = expectPayoutFromSolana({ ...payout, payoutWallet: other.inbox_address }, []);
    assert.deepEqual([elsewhere(shown(address)), elsewhere.reason], [false, "wrong_payout"]);
    assert.equal(expectPayoutFromSolana(payout, [])(shown(address)), false, "no way from Solana is expected");
    assert.equal(verifySolanaInbox(wire, { ...expected, inboxAddress: other.inbox_address }).ok, false);
  });

  test("a dear fast fee makes it take the standard crossing, which costs nothing", async () => {
    road.attestation.settings.fastFeeBps = 10;
    const intent = await road.create();
    const inbox = await road.issue(intent);
    road.pay(inbox, 100n * USDC);
    await road.untilLanded(intent);
    assert.deepEqual(await amountsOf(intent), [["landed", 100_000_000, 0, 500_000, 99_500_000]]);
  });

  test("D41 a stranger who bridges the inbox changes nothing, also when he takes another way than the service would", async () => {
    const intent = await road.create();
    await road.issue(intent);
    const { inbox } = await inboxOf(intent);
    road.pay(inbox, 50n * USDC);
    burnAsStranger(inbox);
    await road.untilLanded(intent);
    assert.deepEqual(await amountsOf(intent), [["landed", 50_000_000, 0, 250_000, 49_750_000]]);
    assert.equal((await road.intent(intent)).counted_units, 50n * USDC);
  });

  const beforeIssued = (isBehind: boolean) => async () => {
    const intent = await road.create({ priceUnits: 150_000_000, oneTime: true });
    const { inbox } = await inboxOf(intent);
    road.pay(inbox, 100n * USDC);
    const burnTx = burnAsStranger(inbox);
    await receiveAsStranger(burnTx);
    if (isBehind) await road.home.mine(100);
    await road.until(async () => (await road.balances(intent)).inbox === 0n || (await movements(intent)).length > 0);
    assert.equal((await road.issue(intent)).address, inbox.address);
    // A balance that differs leads to everything that ever came in.
    road.pay(inbox, 1n);
    const deposits = () => road.db.root.selectFrom("deposit").selectAll().where("intent_id", "=", intent.id).execute();
    await road.until(async () => {
      const found = (await deposits()).filter(({ chain }) => chain.startsWith("solana:"));
      return found.length > 0 && found.every(({ status }) => status === "counted");
    });
    const { counted_units: counted, status } = await road.intent(intent);
    assert.deepEqual([counted, status], [100n * USDC, "active"]);
    await road.untilLanded(intent);
  };
  test("D41 what a stranger crosses out of the inbox before it is issued counts once", beforeIssued(false));
  test("D41 and so does what arrives while the chain is behind", beforeIssued(true));

  test("a second provider does not confirm as a payment what a bridge gave for a burn on Solana", async () => {
    const query = road.db.root.selectFrom("movement").selectAll().where("explained_by", "is not", null);
    const [mint] = await query.where("chain", "=", road.home.caip2).where("direction", "=", "in").limit(1).execute();
    const [reader] = road.world.chains.get(road.home.caip2)?.readers ?? [];
    assert.ok(mint && reader);
    const verify = (movement: typeof mint) => verifyWithProvider(road.world, reader, { movement });
    assert.equal((await verify(mint)).verdict, "confirms");
    const { verdict, reason } = await verify({ ...mint, explained_by: null });
    assert.deepEqual([verdict, reason], ["denies", "bridged"]);
  });

  test("D41 what a payer bridges to the EVM inbox himself is a deposit there", async () => {
    const intent = await road.create();
    await road.issue(intent);
    const event = newKey();
    const from = deriveTokenAccount(payer.address, mint, tokenProgram).address;
    const cctp = deriveCctpAccounts({ mint, domain: 0, sender: payer.address });
    const data = Buffer.alloc(96);
    data.set([215, 60, 61, 46, 114, 55, 128, 176]);
    data.writeBigUInt64LE(20n * USDC, 8);
    data.write(toMessageAccount(intent.inbox_address).slice(2), 20, "hex");
    data.writeBigUInt64LE(1_000n, 84);
    data.writeUInt32LE(2_000, 92);
    const accounts = [
      writableSignerMeta(payer.address),
      writableSignerMeta(payer.address),
      readonlyMeta(cctp.senderAuthority),
      writableMeta(from),
      readonlyMeta(cctp.denylist),
      writableMeta(cctp.transmitterState),
      readonlyMeta(cctp.messengerState),
      readonlyMeta(cctp.remoteMessenger),
      readonlyMeta(cctp.minter),
      writableMeta(cctp.localToken),
      writableMeta(mint),
      writableSignerMeta(event.address),
      readonlyMeta(cctp.transmitter),
      readonlyMeta(cctpMessenger),
      readonlyMeta(tokenProgram),
      readonlyMeta(systemProgram),
      readonlyMeta(cctp.eventAuthority),
      readonlyMeta(cctpMessenger),
    ];
    const chainTx = road.solana.control.send(
      [payer, event],
      [{ program: cctpMessenger, accounts, data: new Uint8Array(data) }],
    );
    await receiveAsStranger(chainTx);
    await road.untilLanded(intent);
    assert.equal((await road.intent(intent)).counted_units, 20n * USDC);
    const found = await movements(intent);
    assert.ok(found.every(({ explained_by }) => explained_by === null));
    const [reader] = road.world.chains.get(road.home.caip2)?.readers ?? [];
    const [movement] = found.filter(({ direction }) => direction === "in");
    assert.ok(reader && movement);
    assert.equal((await verifyWithProvider(road.world, reader, { movement })).verdict, "confirms");
  });

  test("a process that begins anew before every step lands it once", { skip: onlyDeep }, async () => {
    const intent = await road.create();
    const inbox = await road.issue(intent);
    road.pay(inbox, 30n * USDC);
    await road.until(async () => {
      road.restart();
      return (await road.settlements(intent)).some(({ status }) => status === "landed");
    });
    assert.deepEqual(await amountsOf(intent), [["landed", 30_000_000, 3_900, 149_980, 29_846_120]]);
  });

  test(
    "an account that the issuer froze waits with the reason, and lands once it is thawed",
    { skip: onlyDeep },
    async () => {
      const intent = await road.create();
      const inbox = await road.issue(intent);
      road.pay(inbox, 40n * USDC);
      road.solana.control.setFrozen(inbox.tokenAccount ?? "", true);
      await road.until(statusIs(intent, "held"));
      assert.equal((await road.settlements(intent))[0]?.reason, "bridge_refused FROZEN");
      road.solana.control.setFrozen(inbox.tokenAccount ?? "", false);
      road.solana.control.confirm();
      road.advance(3_600_000);
      await road.untilLanded(intent);
    },
  );

  test("while the bridge's service is silent the payment counts, and it lands later", { skip: onlyDeep }, async () => {
    const intent = await road.create({ priceUnits: 10_000_000, oneTime: true });
    const inbox = await road.issue(intent);
    road.attestation.setAnswering(false);
    road.pay(inbox, 10n * USDC);
    await road.until(statusIs(intent, "bridging"));
    assert.equal((await road.intent(intent)).status, "settled");
    road.advance(600_000);
    road.attestation.setAnswering(true);
    await road.untilLanded(intent);
  });

  test("another mint in the inbox does not stop it", async () => {
    const intent = await road.create();
    const inbox = await road.issue(intent);
    payTokens(road.solana, { to: inbox.address, units: 7n * USDC, mint: LOCAL_MINTS.EURC.address });
    road.pay(inbox, 5n * USDC);
    await road.untilLanded(intent);
    assert.equal((await road.intent(intent)).counted_units, 5n * USDC);
  });

  test("the account is created before the payer pays, and closed with its rent when nobody does", async () => {
    const intent = await road.create();
    const { tokenAccount = "" } = await road.issue(intent);
    const primed = () =>
      road.db.root.selectFrom("primed_account").select("status").where("intent_id", "=", intent.id).execute();
    await road.until(async () => (await primed())[0]?.status === "open");
    assert.ok(road.solana.control.account(tokenAccount));
    road.advance(2 * PRIMING.keepMs);
    await road.until(async () => (await primed())[0]?.status === "closed");
    assert.equal(road.solana.control.account(tokenAccount), undefined);
  });

  test(
    "the rent of the burn's message returns to the fee payer five days later, and is asked for once",
    { skip: onlyDeep },
    async () => {
      const intent = await road.create();
      road.pay(await road.issue(intent), 25n * USDC);
      await road.untilLanded(intent);
      const chain = road.world.chains.get(`solana:${road.solana.reference}`);
      assert.ok(chain);
      const lamports = () => road.solana.control.account(road.payer.address)?.lamports ?? 0n;
      const before = lamports();
      assert.equal(await reclaimRent(road.world, chain), 0, "five days have not passed");
      road.advance(6 * 86_400_000);
      road.solana.control.setTime(Math.floor(road.world.clock.now().getTime() / 1_000));
      road.solana.control.nextSlot(6);
      await road.until(async () => (await reclaimRent(road.world, chain)) > 0);
      await road.until(async () => lamports() > before);
      // Only what is final is forgotten, a day later.
      road.solana.control.finalize();
      road.advance(2 * 86_400_000);
      assert.equal(await reclaimRent(road.world, chain), 0, "it is asked for once");
      assert.deepEqual(await road.db.root.selectFrom("burn_rent").selectAll().execute(), []);
    },
  );

  test("D42a without a recovery key on Solana there is no inbox there", async () => {
    const intent = await road.createWithoutRecovery();
    await assert.rejects(road.issue(intent), { code: "source_inbox_not_active" });
    assert.equal(intent.hop_recovery, null);
  });
});
