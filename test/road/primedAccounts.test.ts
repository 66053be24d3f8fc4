import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { computeSolanaInbox } from "@tributary/inbox/solana/address";
import { buildSettle } from "@tributary/inbox/solana/instructions";
import { systemProgram } from "@tributary/inbox/solana/keys";
import { lamportsRentEnd } from "@tributary/inbox/solana/lamportBounds";
import { toSolanaPayTerms } from "../../src/chain/solana/intentInbox.ts";
import type { PrimingConfig } from "../../src/config/config.ts";
import { LOCAL_MINTS, SOLANA_ACCOUNTS } from "../../packages/local-solana/src/fixtures.ts";
import { findTokenAccount, sendLamports, transferTokens } from "../../packages/local-solana/src/instructions.ts";
import { sql } from "kysely";
import { issueSourceInbox } from "../../src/inbox/issueSourceInbox.ts";
import { archiveIntent } from "../../src/intent/archiveIntent.ts";
import type { IntentRow } from "../../src/intent/store.ts";
import { closeAccounts } from "../../src/settlement/closing/closeAccounts.ts";
import { openAccounts } from "../../src/priming/openAccounts.ts";
import { requestPriming } from "../../src/priming/requestPriming.ts";
import { createWallet } from "../support/solana.ts";
import { openSolanaRoad, type SolanaRoad, type SolanaRoadOptions } from "../support/solanaRoad.ts";
import { onlyDeep } from "../support/runNumber.ts";

const USDC = 1_000_000n;
const MINT = LOCAL_MINTS.USDC.address;
const RENT = 1_488_440n;
/** Of the transactions that create and close one account. */
const FEES_MAX = 20_000n;
const MINUTE_MS = 60_000;
const LIMITS: PrimingConfig = { openTotal: 50, openPerAccount: 20, hourlyPerAccount: 60, keepMs: 30 * MINUTE_MS };
const { payer: customer, stranger } = SOLANA_ACCOUNTS;

const accountOf = (owner: string) => findTokenAccount({ owner, mint: MINT });

/** A road of which the payer's choice can be reported. */
async function openPrimedRoad(options: SolanaRoadOptions = {}) {
  const road = await openSolanaRoad({ priming: LIMITS, ...options });
  const { control } = road.solana;
  const lamportsOf = (address: string) => control.account(address)?.lamports ?? 0n;
  const rowsOf = (intent: IntentRow) =>
    road.db.root.selectFrom("primed_account").selectAll().where("intent_id", "=", intent.id).orderBy("id").execute();
  const stateOf = async (intent: IntentRow) => (await rowsOf(intent)).at(-1)?.status;
  return {
    road,
    lamportsOf,
    rowsOf,
    stateOf,
    areAllClosed: async () =>
      (await road.db.root.selectFrom("primed_account").select("status").execute()).every(
        ({ status }) => status === "closed",
      ),
    payerLamports: () => lamportsOf(road.payer.address),
    hasAccount: (intent: IntentRow) => control.account(accountOf(intent.inbox_address)) !== undefined,
    choose: async (intent: IntentRow) => {
      const { payout_namespace: namespace, payout_chain_reference: reference, payout_token: token } = intent;
      await requestPriming(road.world, await road.intent(intent), { namespace, reference, token });
    },
    /** An account that is to close is looked at once a minute, so the clock goes faster. */
    untilState: (intent: IntentRow, status: "open" | "closed") =>
      road.until(async () => {
        if ((await stateOf(intent)) === status) return true;
        if (status === "closed") road.advance(20_000);
        return false;
      }),
    /** As an exchange that creates no token account. */
    transfer: (intent: IntentRow, units: bigint) => {
      const [from, to] = [accountOf(customer.address), accountOf(intent.inbox_address)];
      const transfer = transferTokens({ from, to, owner: customer.address, mint: MINT, units });
      return control.send([customer], [transfer]);
    },
    inboxOf: (intent: IntentRow) =>
      computeSolanaInbox(toSolanaPayTerms(intent), {
        program: intent.inbox_hub,
        tokenProgram: intent.inbox_implementation,
      }),
  };
}

type PrimedRoad = Awaited<ReturnType<typeof openPrimedRoad>>;

describe("accounts that exist before the payer pays", () => {
  let scene: PrimedRoad;
  let road: SolanaRoad;
  before(async () => {
    scene = await openPrimedRoad();
    ({ road } = scene);
  });
  after(() => road.close());

  test("a plain transfer arrives after the payer's choice, is settled, and the rent returns", async () => {
    const intent = await road.create({ priceUnits: 20_000_000, oneTime: true });
    assert.throws(() => scene.transfer(intent, 20n * USDC), "without an account the transfer fails");
    const before = scene.payerLamports();
    await scene.choose(intent);
    await scene.untilState(intent, "open");
    assert.ok(before - scene.payerLamports() >= RENT);
    scene.transfer(intent, 20n * USDC);
    await road.untilLanded(intent);
    const [settlement] = await road.settlements(intent);
    assert.deepEqual([settlement?.gross_units, settlement?.net_units], [20n * USDC, 19_900_000n]);
    assert.ok(!scene.hasAccount(intent));
    await scene.untilState(intent, "closed");
    const cost = before - scene.payerLamports();
    assert.ok(cost > 0n && cost < FEES_MAX, `only fees are spent: ${cost}`);
  });

  test("the payer gets the address of an issued inbox although the database refuses the account's row", async () => {
    const intent = await road.create();
    const { payout_namespace: namespace, payout_chain_reference: reference, payout_token: mint } = intent;
    const issue = () => issueSourceInbox(road.world, intent, { namespace, reference, mint });
    await sql
      .raw(`alter table primed_account add constraint refusing check (intent_id <> '${intent.id}')`)
      .execute(road.db.root);
    assert.equal((await issue()).address, intent.inbox_address);
    await sql`alter table primed_account drop constraint refusing`.execute(road.db.root);
    assert.equal((await issue()).address, intent.inbox_address);
    assert.equal(await scene.stateOf(intent), "planned", "the next look asks for the account");
  });

  test("an unused account is closed when nobody looks any more, and its lamports return", async () => {
    const intent = await road.create();
    const before = scene.payerLamports();
    await scene.choose(intent);
    await scene.untilState(intent, "open");
    road.advance(20 * MINUTE_MS);
    await scene.choose(intent);
    road.advance(20 * MINUTE_MS);
    await road.tick();
    assert.ok(scene.hasAccount(intent), "a later look keeps it for longer");
    road.advance(20 * MINUTE_MS);
    await scene.untilState(intent, "closed");
    assert.ok(!scene.hasAccount(intent));
    const cost = before - scene.payerLamports();
    assert.ok(cost > 0n && cost < FEES_MAX, `only fees are spent: ${cost}`);
    const rows = await scene.rowsOf(intent);
    assert.deepEqual(
      rows.map(({ reason }) => reason),
      ["closed"],
    );
  });

  test("the unused account of an archived intent is closed at once", async () => {
    const intent = await road.create();
    await scene.choose(intent);
    await scene.untilState(intent, "open");
    await road.db.transaction((tx) => archiveIntent(tx, road.world, intent.id));
    await scene.untilState(intent, "closed");
    assert.ok(!scene.hasAccount(intent));
  });

  test("several unused accounts of one merchant close in one transaction", async () => {
    const intents: IntentRow[] = [];
    for (let count = 0; count < 8; count += 1) intents.push(await road.create());
    for (const intent of intents) await scene.choose(intent);
    for (const intent of intents) await scene.untilState(intent, "open");
    road.advance(31 * MINUTE_MS);
    for (const intent of intents) await scene.untilState(intent, "closed");
    const rows = await Promise.all(intents.map((intent) => scene.rowsOf(intent)));
    assert.equal(new Set(rows.flat().map(({ outgoing_id }) => outgoing_id)).size, 1);
  });

  test("dust in an unused account is paid out when it closes, so that it locks no lamports", async () => {
    const intent = await road.create();
    await scene.choose(intent);
    await scene.untilState(intent, "open");
    scene.transfer(intent, 9_000n);
    const paid = road.unitsOf(intent.payout_wallet);
    road.advance(31 * MINUTE_MS);
    await scene.untilState(intent, "closed");
    assert.ok(!scene.hasAccount(intent));
    assert.equal(road.unitsOf(intent.payout_wallet) - paid, 9_000n - 45n);
  });

  test("what a stranger's settlement leaves open is closed, and its rent returns", async () => {
    const intent = await road.create();
    const before = scene.payerLamports();
    await scene.choose(intent);
    await scene.untilState(intent, "open");
    scene.transfer(intent, 5n * USDC);
    road.solana.control.send([stranger], [buildSettle([scene.inboxOf(intent)])]);
    await road.untilLanded(intent);
    assert.ok(scene.hasAccount(intent));
    road.advance(31 * MINUTE_MS);
    await scene.untilState(intent, "closed");
    assert.ok(!scene.hasAccount(intent));
    const cost = before - scene.payerLamports();
    assert.ok(cost > 0n && cost < FEES_MAX, `only fees are spent: ${cost}`);
  });

  test("lamports that a stranger adds, so that the program leaves the account open, cost no fees", async () => {
    const intent = await road.create();
    await scene.choose(intent);
    await scene.untilState(intent, "open");
    road.solana.control.send(
      [stranger],
      [sendLamports(stranger.address, accountOf(intent.inbox_address), lamportsRentEnd)],
    );
    road.solana.control.finalize();
    const before = scene.payerLamports();
    road.advance(31 * MINUTE_MS);
    await road.until(async () => (await scene.rowsOf(intent))[0]?.reason === "excess_lamports");
    for (let hours = 0; hours < 5; hours += 1) {
      road.advance(60 * MINUTE_MS);
      await road.tick();
    }
    assert.deepEqual([scene.payerLamports(), scene.hasAccount(intent)], [before, true]);
  });

  test("no account is created for a payout wallet without one: no settlement could close it for nothing", async () => {
    const intent = await road.create({ payoutWallet: createWallet(road.solana, 0n).address });
    const before = scene.payerLamports();
    await scene.choose(intent);
    await scene.untilState(intent, "closed");
    assert.equal((await scene.rowsOf(intent))[0]?.reason, "no_payout_account");
    assert.equal(scene.payerLamports(), before);
  });

  test("an account that exists is not created again, and is closed like the others", async () => {
    const intent = await road.create();
    road.pay(intent, 1n);
    road.solana.control.finalize();
    const before = scene.payerLamports();
    await scene.choose(intent);
    await scene.untilState(intent, "open");
    assert.equal(scene.payerLamports(), before);
    road.advance(31 * MINUTE_MS);
    await scene.untilState(intent, "closed");
    assert.ok(scene.payerLamports() > before, "the payer's rent is gained");
  });

  test("an intent that is not active, or is asked for another mint, gets no account", async () => {
    const intent = await road.create({ priceUnits: 1_000_000, oneTime: true });
    road.pay(intent, 1n * USDC);
    await road.untilLanded(intent);
    await scene.choose(intent);
    const { payout_namespace: namespace, payout_chain_reference: reference } = intent;
    const other = await road.create();
    await requestPriming(road.world, other, { namespace, reference, token: LOCAL_MINTS.EURC.address });
    assert.deepEqual([...(await scene.rowsOf(intent)), ...(await scene.rowsOf(other))], []);
  });
});

describe("a process that ends between signing and sending", () => {
  let scene: PrimedRoad;
  let road: SolanaRoad;
  before(async () => {
    scene = await openPrimedRoad();
    ({ road } = scene);
  });
  after(() => road.close());
  const chainOf = () => {
    const [chain] = road.world.chains.values();
    assert.ok(chain);
    return chain;
  };

  test("the next one sends the stored creation, and one rent is paid", async () => {
    const intent = await road.create();
    const before = scene.payerLamports();
    await scene.choose(intent);
    // Two processes decide at once; one of them stores a transaction, and neither sends it.
    const submitted = await Promise.all([openAccounts(road.world, chainOf()), openAccounts(road.world, chainOf())]);
    assert.deepEqual(
      submitted.toSorted((one, other) => one - other),
      [0, 1],
    );
    assert.ok(!scene.hasAccount(intent));
    road.restart();
    await scene.untilState(intent, "open");
    const cost = before - scene.payerLamports();
    assert.ok(cost >= RENT && cost < RENT + FEES_MAX, `${cost}`);
  });

  test("a creation that expired unsent is signed anew, and one rent is paid", async () => {
    const intent = await road.create();
    const before = scene.payerLamports();
    await scene.choose(intent);
    assert.equal(await openAccounts(road.world, chainOf()), 1);
    const [{ outgoing_id: first } = { outgoing_id: null }] = await scene.rowsOf(intent);
    road.restart();
    road.solana.control.nextSlot(200);
    road.solana.control.finalize();
    await scene.untilState(intent, "open");
    const [{ outgoing_id: second } = { outgoing_id: null }] = await scene.rowsOf(intent);
    assert.notEqual(second, first);
    const cost = before - scene.payerLamports();
    assert.ok(cost >= RENT && cost < RENT + FEES_MAX, `${cost}`);
  });

  test("the next one sends the stored closing, and the rent returns once", async () => {
    road.advance(31 * MINUTE_MS);
    await road.until(scene.areAllClosed);
    const intent = await road.create();
    const before = scene.payerLamports();
    await scene.choose(intent);
    await scene.untilState(intent, "open");
    road.advance(31 * MINUTE_MS);
    const submitted = await Promise.all([closeAccounts(road.world, chainOf()), closeAccounts(road.world, chainOf())]);
    assert.ok(submitted.includes(0), "one of two processes stores it");
    road.restart();
    await scene.untilState(intent, "closed");
    const cost = before - scene.payerLamports();
    assert.ok(cost > 0n && cost < 2n * FEES_MAX, `${cost}`);
  });
});

describe("limits of what is locked", () => {
  test(
    "a merchant account has no more open accounts than its limit, whoever asks at once",
    { skip: onlyDeep },
    async (t) => {
      const scene = await openPrimedRoad({ priming: { ...LIMITS, openPerAccount: 3 } });
      const { road } = scene;
      t.after(() => road.close());
      const intents: IntentRow[] = [];
      for (let count = 0; count < 10; count += 1) intents.push(await road.create());
      const rows = () => road.db.root.selectFrom("primed_account").selectAll().execute();
      await Promise.all(intents.map((intent) => scene.choose(intent)));
      assert.equal((await rows()).length, 3);
      const before = scene.payerLamports();
      await road.until(async () => (await rows()).every(({ status }) => status === "open"));
      assert.ok(before - scene.payerLamports() < 3n * RENT + FEES_MAX);
      road.advance(31 * MINUTE_MS);
      await road.until(scene.areAllClosed);
      await Promise.all(intents.map((intent) => scene.choose(intent)));
      assert.equal((await rows()).length, 6, "closed accounts make room");
    },
  );

  test("neither the chain's total nor the hourly limit is exceeded", async (t) => {
    const scene = await openPrimedRoad({ priming: { ...LIMITS, openTotal: 2, hourlyPerAccount: 3 } });
    const { road } = scene;
    t.after(() => road.close());
    const rows = () => road.db.root.selectFrom("primed_account").selectAll().execute();
    const chooseFive = async () => {
      for (let count = 0; count < 5; count += 1) await scene.choose(await road.create());
    };
    await chooseFive();
    assert.equal((await rows()).length, 2);
    await road.db.root.updateTable("primed_account").set({ status: "closed", closed_at: new Date() }).execute();
    await chooseFive();
    assert.equal((await rows()).length, 3, "two of the same hour count");
    road.advance(61 * MINUTE_MS);
    await road.db.root.updateTable("primed_account").set({ status: "closed", closed_at: new Date() }).execute();
    await chooseFive();
    assert.equal((await rows()).length, 5);
  });

  test("a low balance stays for settlements", async (t) => {
    const scene = await openPrimedRoad();
    const { road } = scene;
    t.after(() => road.close());
    road.solana.control.setAccount(road.payer.address, {
      owner: systemProgram,
      data: new Uint8Array(),
      lamports: 50_000_000n,
    });
    road.solana.control.nextSlot();
    const [waiting, paid] = [await road.create(), await road.create()];
    await scene.choose(waiting);
    road.pay(paid, 5n * USDC);
    await road.untilLanded(paid);
    assert.ok(!scene.hasAccount(waiting));
    assert.equal((await scene.rowsOf(waiting))[0]?.status, "planned");
    road.advance(6 * MINUTE_MS);
    await scene.untilState(waiting, "closed");
    assert.equal((await scene.rowsOf(waiting))[0]?.reason, "not_created");
  });

  test("nothing is created where the configuration has no limits", async (t) => {
    const scene = await openPrimedRoad({ priming: undefined });
    t.after(() => scene.road.close());
    const intent = await scene.road.create();
    await scene.choose(intent);
    assert.deepEqual(await scene.rowsOf(intent), []);
  });
});
