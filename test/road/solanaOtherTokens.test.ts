import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { listEventTypesOf } from "../support/events.ts";
import { computeSolanaInbox } from "@tributary/inbox/solana/address";
import { buildRescue } from "@tributary/inbox/solana/instructions";
import { pino } from "pino";
import { toSolanaPayTerms } from "../../src/chain/solana/intentInbox.ts";
import { LOCAL_MINTS, SOLANA_ACCOUNTS } from "../../packages/local-solana/src/fixtures.ts";
import { createTokenAccount, findTokenAccount } from "../../packages/local-solana/src/instructions.ts";
import { readState } from "../../src/http/checkout/state/readState.ts";
import type { IntentRow } from "../../src/intent/store.ts";
import { addMs } from "../../src/kernel/clock.ts";
import { upsertViewHints } from "../../src/view/store.ts";
import { createWallet, payTokens } from "../support/solana.ts";
import { startSolanaProxy, type SolanaProxy } from "../support/solanaProxy.ts";
import { openSolanaRoad, type SolanaRoad } from "../support/solanaRoad.ts";

// A payer sends another configured token than the one that the inbox takes. Nobody is paid with it, and everybody
// learns what came.

const UNITS = 50_000_000n;
const HOUR_MS = 3_600_000;
const { EURC, USDT, DUSD, USDC } = LOCAL_MINTS;
const { stranger } = SOLANA_ACCOUNTS;

describe("another token in an inbox on Solana", () => {
  let road: SolanaRoad;
  let proxy: SolanaProxy;
  const lines: { level: number; msg: string }[] = [];
  before(async () => {
    road = await openSolanaRoad({
      retired: [EURC, USDT, DUSD],
      rpcUrls: async (honest) => [(proxy = await startSolanaProxy(honest)).url],
      log: pino({ level: "warn" }, { write: (line: string) => void lines.push(JSON.parse(line) as (typeof lines)[0]) }),
    });
    // The first pass over all inboxes finds none.
    await rounds(2);
  });
  after(async () => {
    try {
      await road.close();
    } finally {
      proxy.close();
    }
  });

  async function rounds(count: number): Promise<void> {
    for (let round = 0; round < count; round += 1) {
      await road.tick();
      road.solana.control.nextSlot();
      road.advance(2_000);
    }
  }

  const create = () => road.create({ payoutWallet: createWallet(road.solana, 1_000_000_000n).address });
  const depositsOf = async ({ id }: IntentRow) =>
    (await road.db.root.selectFrom("deposit").selectAll().where("intent_id", "=", id).orderBy("seq").execute()).map(
      ({ token, amount_units, token_decimals, status, reason }) => [
        token,
        amount_units,
        token_decimals,
        status,
        reason,
      ],
    );
  const held = ({ address }: { address: string }) => [address, UNITS, 6, "held", "no_route"];
  const isFound = (intent: IntentRow) => async () => (await depositsOf(intent)).length > 0;
  const payOther = (intent: IntentRow, { address, program }: { address: string; program: string } = EURC) =>
    payTokens(road.solana, { to: intent.inbox_address, units: UNITS, mint: address, program });
  const view = (intent: IntentRow) =>
    upsertViewHints(road.db, [
      {
        intentId: intent.id,
        namespace: intent.payout_namespace,
        reference: intent.payout_chain_reference,
        token: intent.payout_token,
        expiresAt: addMs(road.world.clock.now(), HOUR_MS),
      },
    ]);

  test("a payer who looks at the page is told within seconds, and the merchant gets the events of a held deposit", async () => {
    const intent = await create();
    await view(intent);
    await rounds(1);
    payOther(intent);
    // Six seconds.
    await rounds(4);
    assert.deepEqual(await depositsOf(intent), [held(EURC)]);
    payOther(intent, DUSD);
    await rounds(4);
    assert.deepEqual(await depositsOf(intent), [held(EURC), held(DUSD)]);
    const { received_units: receivedUnits, counted_units: countedUnits } = await road.intent(intent);
    assert.deepEqual([receivedUnits, countedUnits], [0n, 0n]);
    const types = await listEventTypesOf(road.db, intent.id);
    assert.deepEqual(
      types.filter((type) => type.startsWith("deposit.")),
      ["deposit.seen", "deposit.held", "deposit.seen", "deposit.held"],
    );
    const state = await readState(road.world, intent.id);
    assert.deepEqual(
      [state?.stage, state?.held?.reason, state?.held?.symbol, state?.held?.amount, state?.held?.rescue],
      ["held", "wrong_token", "DUSD", "50", "now"],
    );
  });

  test("what is due is still paid, counted and settled as without the other token", async () => {
    const intent = await create();
    await view(intent);
    payOther(intent);
    await road.until(isFound(intent));
    road.pay(intent, UNITS);
    await road.untilLanded(intent);
    const [settlement, ...others] = await road.settlements(intent);
    assert.deepEqual([settlement?.token, settlement?.gross_units, others.length], [USDC.address, UNITS, 0]);
    assert.equal(
      road.solana.control.units(findTokenAccount({ owner: intent.inbox_address, mint: EURC.address })),
      UNITS,
    );
  });

  test("without a view it is found in the slow pass, and an empty account is nothing to report", async () => {
    const [intent, other] = [await create(), await create()];
    await rounds(20);
    payOther(intent);
    const { control } = road.solana;
    // An account without money, such as a primed one, is nothing to report.
    control.send(
      [stranger],
      [createTokenAccount(stranger.address, { owner: other.inbox_address, mint: EURC.address })],
    );
    await rounds(1);
    road.advance(2 * HOUR_MS);
    await road.until(isFound(intent));
    assert.deepEqual(await depositsOf(intent), [held(EURC)]);
    assert.deepEqual(await depositsOf(other), []);
    assert.deepEqual(lines.splice(0), []);
  });

  test("a rescue before anybody looks leaves both transfers in the books", async () => {
    const wallet = createWallet(road.solana, 1_000_000_000n);
    const intent = await road.create({ payoutWallet: wallet.address });
    payOther(intent);
    const { control } = road.solana;
    const [from, to] = [intent.inbox_address, wallet.address].map((owner) =>
      findTokenAccount({ owner, mint: EURC.address }),
    ) as [string, string];
    control.send([stranger], [createTokenAccount(stranger.address, { owner: wallet.address, mint: EURC.address })]);
    const inbox = computeSolanaInbox(toSolanaPayTerms(intent), {
      program: intent.inbox_hub,
      tokenProgram: intent.inbox_implementation,
    });
    control.send([wallet], [buildRescue(inbox, { tokenAccount: from, mint: EURC.address, destination: to })]);
    road.advance(2 * HOUR_MS);
    await road.until(isFound(intent));
    const movements = await road.db.root
      .selectFrom("movement")
      .select(["direction", "token", "amount_units"])
      .where("intent_id", "=", intent.id)
      .orderBy("direction")
      .execute();
    assert.deepEqual(
      movements.map((row) => [row.direction, row.token, row.amount_units]),
      [
        ["in", EURC.address, UNITS],
        ["out", EURC.address, UNITS],
      ],
    );
    await rounds(5);
    assert.deepEqual(await road.db.root.selectFrom("balance_difference").selectAll().execute(), []);
  });

  test("while nobody looks, rounds between two slow passes read the own token only", async () => {
    await rounds(20);
    await road.db.root.deleteFrom("view_hint").execute();
    road.advance(2 * HOUR_MS);
    await rounds(10);
    proxy.methods.length = 0;
    await rounds(60);
    const owned = proxy.methods.filter((method) => method === "getMultipleAccounts").length;
    // One comparison of the own token a round, and none of the others: their pass is over for this hour.
    assert.ok(owned <= 61, String(owned));
  });
});
