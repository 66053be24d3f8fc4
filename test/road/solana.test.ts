import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { computeSolanaInbox } from "@tributary/inbox/solana/address";
import { buildSettle } from "@tributary/inbox/solana/instructions";
import { decodeKey } from "@tributary/inbox/solana/keys";
import { AUTHORITY_OWNER, setAuthority } from "../../programs/test/support/tokens.ts";
import { toSolanaPayTerms } from "../../src/chain/solana/intentInbox.ts";
import { LOCAL_MINTS, SOLANA_ACCOUNTS } from "../../packages/local-solana/src/fixtures.ts";
import { createTokenAccount, findTokenAccount } from "../../packages/local-solana/src/instructions.ts";
import type { Keypair } from "../../packages/local-solana/src/keypairs.ts";
import type { IntentRow } from "../../src/intent/store.ts";
import { createWallet, payTokens } from "../support/solana.ts";
import { openSolanaRoad, type SolanaRoad } from "../support/solanaRoad.ts";

const USDC = 1_000_000n;
const MINT = LOCAL_MINTS.USDC.address;
const { feeRecipient, stranger } = SOLANA_ACCOUNTS;

describe("paying and settling on Solana", () => {
  let road: SolanaRoad;
  before(async () => {
    road = await openSolanaRoad();
  });
  after(() => road.close());

  const amountsOf = async (intent: IntentRow) =>
    (await road.settlements(intent)).map((row) => [row.status, row.gross_units, row.fee_units, row.net_units]);
  const accountOf = (owner: string) => findTokenAccount({ owner, mint: MINT });
  const lamportsOf = (address: string) => road.solana.control.account(address)?.lamports ?? 0n;
  const inboxOf = (intent: IntentRow) =>
    computeSolanaInbox(toSolanaPayTerms(intent), {
      program: intent.inbox_hub,
      tokenProgram: intent.inbox_implementation,
    });
  const isCounted = (intent: IntentRow) => async () => (await road.intent(intent)).counted_units > 0n;
  const isSeen = (intent: IntentRow) => async () => (await road.intent(intent)).received_units > 0n;
  /** A refusal is tried again for some hours before the settlement is held. */
  const untilHeld = async (intent: IntentRow, reason = /^settle_refused ./) => {
    const isHeld = async () => (await road.settlements(intent)).some(({ status }) => status === "held");
    for (let hours = 0; hours < 30 && !(await isHeld()); hours += 1) {
      road.advance(3_600_000);
      await road.tick();
    }
    const [settlement] = await road.settlements(intent);
    assert.equal(settlement?.status, "held");
    assert.match(settlement.reason ?? "", reason);
  };
  /** A merchant's wallet whose token account exists. */
  const openPayout = (lamports = 0n) => {
    const wallet = createWallet(road.solana, lamports);
    road.solana.control.send([stranger], [createTokenAccount(stranger.address, { owner: wallet.address, mint: MINT })]);
    return wallet;
  };

  /** Gives a token account to another owner. */
  const handOver = (account: string, from: Keypair, to: string) =>
    void road.solana.control.send([from], [setAuthority(account, from, { role: AUTHORITY_OWNER, to })]);

  test("a deposit counts when it is final, and is settled to the unit, at no cost to the operator", async () => {
    const intent = await road.create({ priceUnits: 1_000_000_000, oneTime: true, payoutWallet: openPayout().address });
    const before = lamportsOf(road.payer.address);
    const signature = road.pay(intent, 1_000n * USDC);
    await road.until(isSeen(intent));
    assert.equal((await road.intent(intent)).counted_units, 0n, "it is confirmed, not final");
    const fees = road.unitsOf(feeRecipient.address);
    await road.untilLanded(intent);
    assert.deepEqual(await amountsOf(intent), [["landed", 1_000n * USDC, 5n * USDC, 995n * USDC]]);
    assert.deepEqual(
      [
        road.unitsOf(intent.payout_wallet),
        road.unitsOf(feeRecipient.address) - fees,
        lamportsOf(accountOf(intent.inbox_address)),
      ],
      [995n * USDC, 5n * USDC, 0n],
    );
    const paid = await road.intent(intent);
    assert.deepEqual([paid.status, paid.settled_units], ["settled", 1_000n * USDC]);
    const [deposit] = await road.db.root.selectFrom("deposit").selectAll().where("intent_id", "=", intent.id).execute();
    assert.equal(deposit?.chain_tx, signature);
    assert.ok(lamportsOf(road.payer.address) >= before, "the payer's rent paid for the settlement");
  });

  test("a second deposit, after the inbox's account was closed, is counted and settled as the first", async () => {
    const intent = await road.create({ payoutWallet: openPayout().address });
    road.pay(intent, 20n * USDC);
    await road.untilLanded(intent);
    road.pay(intent, 30n * USDC);
    await road.untilLanded(intent, 2);
    assert.deepEqual(
      (await amountsOf(intent)).map(([status, gross]) => [status, gross]),
      [
        ["landed", 20n * USDC],
        ["landed", 30n * USDC],
      ],
    );
  });

  test("a missing payout account is created", async () => {
    const wallet = createWallet(road.solana, 0n);
    const intent = await road.create({ payoutWallet: wallet.address });
    road.pay(intent, 20n * USDC);
    await road.untilLanded(intent);
    assert.equal(road.unitsOf(wallet.address), 19_900_000n);
  });

  test("a frozen payout account holds the settlement with a reason, and lands once it is thawed", async () => {
    const intent = await road.create({ payoutWallet: openPayout().address });
    const account = accountOf(intent.payout_wallet);
    road.solana.control.setFrozen(account, true);
    const other = await road.create({ payoutWallet: openPayout().address });
    road.pay(intent, 20n * USDC);
    road.pay(other, 10n * USDC);
    await road.untilLanded(other);
    await untilHeld(intent);
    road.solana.control.setFrozen(account, false);
    road.solana.control.confirm();
    road.advance(86_400_000);
    await road.untilLanded(intent);
    assert.equal(road.unitsOf(intent.payout_wallet), 19_900_000n);
  });

  test("a payout account that was handed over gets nothing, and is paid once the wallet has it back", async () => {
    const wallet = openPayout(1_000_000_000n);
    const intent = await road.create({ payoutWallet: wallet.address });
    const account = accountOf(wallet.address);
    handOver(account, wallet, stranger.address);
    road.pay(intent, 20n * USDC);
    await road.until(isCounted(intent));
    await untilHeld(intent, /^settle_refused PAYOUT$/);
    assert.deepEqual([road.solana.control.units(account), road.unitsOf(intent.inbox_address)], [0n, 20n * USDC]);
    handOver(account, stranger, wallet.address);
    road.solana.control.confirm();
    road.advance(86_400_000);
    await road.untilLanded(intent);
    assert.equal(road.unitsOf(wallet.address), 19_900_000n);
  });

  test("a payout account that is handed over between signing and landing gets nothing", async () => {
    const wallet = openPayout(1_000_000_000n);
    const intent = await road.create({ payoutWallet: wallet.address });
    const account = accountOf(wallet.address);
    road.pay(intent, 20n * USDC);
    road.solana.control.setLanding("hold");
    await road.until(async () => (await road.settlements(intent)).some(({ status }) => status === "submitted"));
    await road.tick();
    handOver(account, wallet, stranger.address);
    road.solana.control.release();
    road.solana.control.setLanding("now");
    road.solana.control.finalize();
    await untilHeld(intent, /^settle_refused PAYOUT$/);
    assert.deepEqual([road.solana.control.units(account), road.unitsOf(intent.inbox_address)], [0n, 20n * USDC]);
  });

  test("a wallet without its associated account takes the money to another account of its own", async () => {
    const wallet = openPayout(1_000_000_000n);
    const intent = await road.create({ payoutWallet: wallet.address });
    const [lost, other] = [accountOf(wallet.address), createWallet(road.solana, 0n)];
    handOver(lost, wallet, stranger.address);
    const { data, owner } = road.solana.control.account(accountOf(feeRecipient.address)) ?? {};
    assert.ok(data && owner);
    const own = Buffer.from(data);
    own.set(decodeKey("wallet", wallet.address), 32);
    own.writeBigUInt64LE(0n, 64);
    road.solana.control.setAccount(other.address, { owner, data: own });
    road.pay(intent, 20n * USDC);
    await road.until(isCounted(intent));
    await untilHeld(intent, /^settle_refused PAYOUT$/);
    road.solana.control.send([wallet], [buildSettle([inboxOf(intent)], { payoutAccount: other.address })]);
    await road.untilLanded(intent);
    assert.deepEqual(await amountsOf(intent), [["landed", 20n * USDC, 100_000n, 19_900_000n]]);
    assert.deepEqual([road.solana.control.units(lost), road.solana.control.units(other.address)], [0n, 19_900_000n]);
  });

  test("a frozen fee account forfeits the fee and stops no payout", async () => {
    const intent = await road.create({ payoutWallet: openPayout().address });
    road.solana.control.setFrozen(accountOf(feeRecipient.address), true);
    road.pay(intent, 20n * USDC);
    await road.untilLanded(intent);
    road.solana.control.setFrozen(accountOf(feeRecipient.address), false);
    assert.deepEqual(await amountsOf(intent), [["landed", 20n * USDC, 0n, 20n * USDC]]);
  });

  test("a frozen inbox is held with a reason", async () => {
    const intent = await road.create({ payoutWallet: openPayout().address });
    road.pay(intent, 20n * USDC);
    road.solana.control.setFrozen(accountOf(intent.inbox_address), true);
    await road.until(isCounted(intent));
    await untilHeld(intent);
    road.solana.control.setFrozen(accountOf(intent.inbox_address), false);
    road.solana.control.confirm();
    road.advance(86_400_000);
    await road.untilLanded(intent);
  });

  test("a stranger who settles before anybody looks leaves the deposit and the settlement in the books", async () => {
    const intent = await road.create({ payoutWallet: openPayout().address });
    const signature = road.pay(intent, 20n * USDC);
    road.solana.control.send([stranger], [buildSettle([inboxOf(intent)])]);
    await road.untilLanded(intent);
    await road.until(isCounted(intent));
    assert.deepEqual(await amountsOf(intent), [["landed", 20n * USDC, 100_000n, 19_900_000n]]);
    const deposits = await road.db.root.selectFrom("deposit").selectAll().where("intent_id", "=", intent.id).execute();
    assert.deepEqual(
      deposits.map(({ chain_tx, status }) => [chain_tx, status]),
      [[signature, "counted"]],
    );
  });

  test("a deposit in a dropped slot is gone, and counts when it lands again", async () => {
    const intent = await road.create({ payoutWallet: openPayout().address });
    road.pay(intent, 20n * USDC);
    road.solana.control.nextSlot(2);
    await road.until(isSeen(intent));
    road.solana.control.fork(4);
    const isGone = async () => (await road.intent(intent)).received_units === 0n;
    await road.until(isGone);
    road.pay(intent, 21n * USDC);
    await road.untilLanded(intent);
    assert.deepEqual(
      (await amountsOf(intent)).map(([status, gross]) => [status, gross]),
      [["landed", 21n * USDC]],
    );
  });

  test("after days without the service, over thousands of slots and skipped ones, each deposit is settled once", async () => {
    const { control } = road.solana;
    const [waiting, settled] = [
      await road.create({ payoutWallet: openPayout().address }),
      await road.create({ payoutWallet: openPayout().address }),
    ];
    await road.until(async () => true);
    road.pay(settled, 20n * USDC);
    control.nextSlot(500);
    control.send([stranger], [buildSettle([inboxOf(settled)])]);
    control.skip(700);
    road.pay(settled, 5n * USDC);
    road.pay(waiting, 30n * USDC);
    control.nextSlot(1_500);
    road.advance(3 * 86_400_000);
    road.restart();
    await road.untilLanded(settled, 2);
    await road.untilLanded(waiting);
    const amounts = [...(await amountsOf(settled)), ...(await amountsOf(waiting))];
    assert.deepEqual(
      amounts.map(([status, gross]) => [status, gross]),
      [
        ["landed", 20n * USDC],
        ["landed", 5n * USDC],
        ["landed", 30n * USDC],
      ],
    );
    assert.equal((await road.intent(settled)).counted_units, 25n * USDC);
  });

  test("a mint that is not configured is no deposit, in the inbox's owner either", async () => {
    const intent = await road.create({ payoutWallet: openPayout().address });
    payTokens(road.solana, { to: intent.inbox_address, units: 50n * USDC, mint: LOCAL_MINTS.EURC.address });
    road.pay(intent, 1n * USDC);
    await road.untilLanded(intent);
    assert.equal((await road.intent(intent)).counted_units, 1n * USDC);
  });

  test("nine deposits at once settle in two transactions", async () => {
    const intents: IntentRow[] = [];
    for (let count = 0; count < 9; count += 1) intents.push(await road.create());
    for (const intent of intents) road.pay(intent, 10n * USDC);
    for (const intent of intents) await road.untilLanded(intent);
    const chainTxs = await road.db.root
      .selectFrom("movement")
      .select("chain_tx")
      .distinct()
      .where("direction", "=", "out")
      .where(
        "intent_id",
        "in",
        intents.map(({ id }) => id),
      )
      .execute();
    assert.equal(chainTxs.length, 2);
  });
});
