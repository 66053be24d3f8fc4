import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { computeSolanaInbox } from "@tributary/inbox/solana/address";
import { buildSettle } from "@tributary/inbox/solana/instructions";
import { toSolanaPayTerms } from "../../src/chain/solana/intentInbox.ts";
import { LOCAL_MINTS, SOLANA_ACCOUNTS } from "../../packages/local-solana/src/fixtures.ts";
import {
  createTokenAccount,
  findTokenAccount,
  sendLamports,
  transferTokens,
} from "../../packages/local-solana/src/instructions.ts";
import type { IntentRow } from "../../src/intent/store.ts";
import { openSolanaRoad, type SolanaRoad } from "../support/solanaRoad.ts";

// What strangers do to an inbox for the fee of a transaction: they may settle it, in the middle of a transaction too,
// and they may name it.

const USDC = 1_000_000n;
const MINT = LOCAL_MINTS.USDC.address;
const { payer, stranger } = SOLANA_ACCOUNTS;

describe("strangers and inboxes on Solana", () => {
  let road: SolanaRoad;
  before(async () => {
    road = await openSolanaRoad();
  });
  after(() => road.close());

  const inboxOf = (intent: IntentRow) =>
    computeSolanaInbox(toSolanaPayTerms(intent), {
      program: intent.inbox_hub,
      tokenProgram: intent.inbox_implementation,
    });
  const transfer = (to: string, units: bigint) =>
    transferTokens({
      from: findTokenAccount({ owner: payer.address, mint: MINT }),
      to,
      owner: payer.address,
      mint: MINT,
      units,
    });

  test("D48 one transaction that creates the account, pays 1, settles and pays 100: the merchant gets everything", async () => {
    const paidBefore = road.unitsOf(road.payout.address);
    const intent = await road.create({ priceUnits: 100_000_000, oneTime: true });
    const { tokenAccount, address: owner } = inboxOf(intent);
    road.solana.control.send(
      [payer],
      [
        createTokenAccount(payer.address, { owner, mint: MINT }),
        transfer(tokenAccount, 1n),
        buildSettle([inboxOf(intent)]),
        transfer(tokenAccount, 100n * USDC),
      ],
    );
    await road.until(async () => road.solana.control.units(tokenAccount) === 0n);
    await road.until(async () => (await road.intent(intent)).settled_units === 100n * USDC + 1n);
    const now = await road.intent(intent);
    assert.deepEqual(
      [now.received_units, now.counted_units, now.status],
      [100n * USDC + 1n, 100n * USDC + 1n, "settled"],
    );
    const fees = 500_000n;
    assert.equal(road.unitsOf(road.payout.address) - paidBefore, 100n * USDC + 1n - fees);
    assert.ok((await road.settlements(intent)).every(({ status }) => status === "landed"));
  });

  test("D48 a payment in the transaction of a stranger's settlement of an earlier one is settled as well", async () => {
    const intent = await road.create();
    const { tokenAccount, address: owner } = inboxOf(intent);
    road.pay(intent, 7n * USDC);
    road.solana.control.nextSlot();
    road.solana.control.send(
      [payer],
      [
        buildSettle([inboxOf(intent)]),
        createTokenAccount(payer.address, { owner, mint: MINT }),
        transfer(tokenAccount, 5n * USDC),
      ],
    );
    await road.until(async () => (await road.intent(intent)).settled_units === 12n * USDC);
    assert.equal(road.solana.control.units(tokenAccount), 0n);
  });

  test("a stranger who names the account for one lamport delays no payment and accuses no provider", async () => {
    const intent = await road.create();
    const { tokenAccount } = inboxOf(intent);
    road.pay(intent, 7n * USDC);
    road.solana.control.nextSlot();
    for (let times = 0; times < 5; times += 1) {
      road.solana.control.send([stranger], [sendLamports(stranger.address, tokenAccount, 1n)]);
      road.solana.control.nextSlot();
    }
    await road.untilLanded(intent);
    assert.equal((await road.intent(intent)).settled_units, 7n * USDC);
  });
});
