import { deepEqual, rejects } from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { sql } from "kysely";
import { thoroughDatabases, openTestDatabase } from "../../../test/support/database.ts";
import { insertIntent, randomAddress, TEST_CHAIN } from "../../../test/support/intents.ts";
import { recordMovements, setHead } from "../../../test/support/movements.ts";
import type { Db } from "../../db/database.ts";

const isRefused = (error: unknown) => error instanceof Error && "code" in error && error.code === "23000";

for (const kind of thoroughDatabases) {
  describe(`a movement stays with the intent of its inbox on ${kind}`, () => {
    let db: Db;
    before(async () => {
      db = await openTestDatabase(kind);
      await setHead(db, TEST_CHAIN, { number: 100n });
    });
    after(() => db.close());

    const paid = async () => {
      const intent = await insertIntent(db);
      await recordMovements(db, intent, [{ chainTx: `0x${"ab".repeat(32)}`, amountUnits: 5n, block: 90n }]);
      return intent;
    };
    const inboxesOf = async (intentId: string) => {
      const rows = await db.root.selectFrom("movement").select("inbox").where("intent_id", "=", intentId).execute();
      return rows.map(({ inbox }) => inbox);
    };

    test("a movement of another inbox is refused, with or without the intent, and its statement is rolled back", async () => {
      const intent = await paid();
      const copy = (changed: { intentId?: string; inbox: string }) =>
        sql`insert into movement (chain, chain_tx, identity, place, block_number, block_hash, direction, inbox, intent_id, token,
            counterparty, amount_units, revision, seen_at)
          select chain, chain_tx, (70 + copied.number)::text, place, block_number, block_hash, direction,
            case copied.number when 1 then inbox else ${changed.inbox} end, ${changed.intentId ?? intent.id},
            token, counterparty, amount_units, revision, seen_at
          from movement, generate_series(1, 2) as copied (number) where intent_id = ${intent.id}`.execute(db.root);
      await rejects(copy({ inbox: randomAddress() }), isRefused);
      await rejects(copy({ intentId: "pi_nobody", inbox: intent.inbox_address }), isRefused);
      deepEqual(await inboxesOf(intent.id), [intent.inbox_address]);
      await copy({ inbox: intent.inbox_address });
      deepEqual((await inboxesOf(intent.id)).length, 3);
    });

    test("a movement cannot move to another intent or inbox", async () => {
      const [intent, other] = [await paid(), await insertIntent(db)];
      const given = (column: "intent_id" | "inbox", value: string) =>
        db.root
          .updateTable("movement")
          .set({ [column]: value })
          .where("intent_id", "=", intent.id)
          .execute();
      await rejects(given("intent_id", other.id), isRefused);
      await rejects(given("inbox", other.inbox_address), isRefused);
      deepEqual(await inboxesOf(intent.id), [intent.inbox_address]);
    });

    test("an intent cannot be deleted", async () => {
      const intent = await insertIntent(db);
      await rejects(db.root.deleteFrom("intent").where("id", "=", intent.id).execute(), isRefused);
    });
  });
}
