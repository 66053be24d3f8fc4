import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { intentRecordWithRoutes, type IntentRecord } from "../../src/intent/intentRecord.ts";
import { archiveIntent } from "../../src/intent/archiveIntent.ts";
import { runOperation } from "../../src/operator/runOperation.ts";
import type { CreateIntentInput } from "../../src/intent/createIntent.ts";
import type { IntentRow } from "../../src/intent/store.ts";
import { verifyFinalState } from "../chaos/verifyFinalState.ts";
import { openRoad, type Road } from "../support/road.ts";

// The database is gone, and with it the payments of its last days. What is left are the chain, the responses of creates
// and an export of the intents. A new database finds every payment again, and settles it once.

const PRICE = 5_000_000n;
const OWN_WALLET = `0x${"28".repeat(20)}`;
const ONCE = { priceUnits: Number(PRICE), oneTime: true };

type Entry = Partial<IntentRecord>;

describe("intents come back into a new database", () => {
  let lost: Road;
  let restored: Road;
  const intents = new Map<string, IntentRow>();
  const responses = new Map<string, IntentRecord>();
  let exported: Entry[];

  const idOf = (name: string) => intents.get(name)?.id ?? "";
  async function create(name: string, input: CreateIntentInput): Promise<IntentRow> {
    const intent = await lost.create({ merchantReference: name, ...input });
    intents.set(name, intent);
    responses.set(name, intentRecordWithRoutes(intent, [], lost.world.config));
    return intent;
  }
  const importEntries = (entries: readonly Entry[], account?: string) =>
    runOperation(restored.world, "intents import", { entries: JSON.stringify(entries), account });
  const search = (since: string | null) =>
    runOperation(restored.world, "intents search", {
      intentIds: [...intents.values()].map(({ id }) => id).join(),
      chain: restored.chain.caip2,
      since,
    });

  before(async () => {
    lost = await openRoad();
    const settled = await create("settled before", ONCE);
    await lost.pay(settled, PRICE);
    await lost.settle();
    assert.equal((await lost.intent(settled)).settled_units, PRICE);
    const archived = await create("archived", ONCE);
    await lost.world.db.transaction((tx) => archiveIntent(tx, lost.world, archived.id));
    exported = (await runOperation(lost.world, "intents export", {})).data;
    // After the export, only the merchant's own records know of these.
    const paid = await create("paid while it was lost", ONCE);
    const repeatable = await create("repeatable", { payoutWallet: OWN_WALLET });
    await create("not paid", ONCE);
    await lost.pay(repeatable, 1_000_000n);
    await lost.settle();
    await lost.pay(paid, PRICE);
    await lost.pay(repeatable, 2_000_000n);
    await lost.chain.mine(2);
    restored = await openRoad({ testChain: lost.chain });
  });
  after(async () => {
    await restored.close();
    await lost.close();
  });

  test("the export and the responses bring back every intent, and the search finds every payment", async () => {
    const kept = [...exported, ...[...responses.values()].slice(2)];
    const unknown = await importEntries(exported);
    assert.match(unknown.intents[0]?.reason ?? "", /^there is no account acct_\w+: give --account$/);
    const { intents: imported, since } = await importEntries(kept, restored.account.id);
    assert.deepEqual(
      imported.map(({ intentId, outcome, reason, occupies }) => ({ intentId, outcome, reason, occupies })),
      [...intents].map(([name, { id: intentId }]) => {
        return { intentId, outcome: "imported", reason: null, occupies: name === "repeatable" };
      }),
    );
    const { recorded, nextBlock } = await search(since);
    assert.equal(nextBlock, null);
    const found = (name: string) =>
      recorded
        .filter(({ intentId }) => intentId === idOf(name))
        .map(({ direction, amountUnits }) => `${direction} ${amountUnits}`);
    // A sweep moves payout and fee.
    assert.deepEqual(found("settled before"), ["in 5000000", "out 4975000", "out 25000"]);
    assert.deepEqual(found("paid while it was lost"), ["in 5000000"]);
    assert.deepEqual(
      found("repeatable").filter((text) => text.startsWith("in")),
      ["in 1000000", "in 2000000"],
    );
    assert.deepEqual([found("not paid"), found("archived")], [[], []]);
    assert.deepEqual((await search(since)).recorded, []);
  });

  test("each payment counts once and leaves once, what was paid out before included", async () => {
    await restored.settle();
    const state = async (name: string) => {
      const { status, counted_units, settled_units } = await restored.intent({ id: idOf(name) });
      return [status, counted_units, settled_units];
    };
    assert.deepEqual(await state("settled before"), ["settled", PRICE, PRICE]);
    assert.deepEqual(await state("archived"), ["archived", 0n, 0n]);
    assert.deepEqual(await state("paid while it was lost"), ["settled", PRICE, PRICE]);
    assert.deepEqual(await state("repeatable"), ["active", 3_000_000n, 3_000_000n]);
    assert.deepEqual(await state("not paid"), ["active", 0n, 0n]);
    const merchant = { name: "", apiKey: "", accountId: restored.account.id };
    const acknowledged = [...intents].map(([reference, { id: intentId, inbox_address }]) => {
      return { merchant, intentId, inbox: inbox_address as `0x${string}`, reference, priceUnits: null };
    });
    const findings = await verifyFinalState(restored.world.db, { chain: restored.chain, acknowledged });
    assert.deepEqual(findings, { lost: [], duplicated: [], ledger: [] });
  });

  test("a destination that its create named is occupied again, and an account's default is not", async () => {
    assert.equal((await restored.create({ payoutWallet: OWN_WALLET })).id, idOf("repeatable"));
    const other = await restored.create(ONCE);
    assert.ok(![...intents.values()].some(({ id }) => id === other.id));
  });

  test("a second import changes nothing, and altered terms are refused", async () => {
    const rows = () => restored.world.db.root.selectFrom("intent").selectAll().orderBy("seq").execute();
    const present = await rows();
    const response = responses.get("not paid");
    assert.ok(response);
    const outcomeOf = async (entry: object) => {
      const [result] = (await importEntries([entry], restored.account.id)).intents;
      return `${result?.outcome} ${result?.reason}`;
    };
    assert.equal(await outcomeOf(response), "known null");
    const { inboxTerms } = response;
    const altered: [entry: object, expected: RegExp][] = [
      [
        { ...response, inboxTerms: { ...inboxTerms, feeBps: 0 } },
        /its terms determine the inbox 0x\w+, which is another/,
      ],
      [{ ...response, inboxTerms: { ...inboxTerms, payout: OWN_WALLET } }, /its terms determine the inbox/],
      [{ ...response, priceUnits: undefined }, /it lacks priceUnits/],
      [{ ...response, livemode: true }, /it was made in live, and this service is the other one/],
      [{ ...response, inboxTerms: { ...inboxTerms, hub: OWN_WALLET } }, /this release does not know its hub/],
      [{ ...response, intentId: "pi_1" }, /its id is no id of an intent/],
      [{ intentId: response.intentId }, /it lacks/],
    ];
    for (const [entry, expected] of altered) assert.match(await outcomeOf(entry), expected);
    assert.deepEqual(await rows(), present);
  });
});
