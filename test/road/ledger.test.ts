import { deepEqual, match, ok, rejects } from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { sql } from "kysely";
import { compareBalances } from "../../src/audit/compareBalances.ts";
import { runLedgerChecks } from "../../src/audit/runLedgerChecks.ts";
import type { LedgerLine } from "../../src/operator/ledgerOperations.ts";
import { runOperation, type OperationInput } from "../../src/operator/runOperation.ts";
import type { Chain } from "../../src/chain/chain.ts";
import { caip19 } from "../../src/kernel/caip.ts";
import { EVENT_TYPES } from "../../src/event/event.ts";
import { watchNow } from "../support/watchNow.ts";
import { thoroughDatabases } from "../support/database.ts";
import { openRoad, type Road } from "../support/road.ts";

for (const database of thoroughDatabases) {
  describe(`the ledger of a road on ${database}`, () => {
    let road: Road;
    let chain: Chain;
    let asset: string;
    before(async () => {
      road = await openRoad({ database });
      const [only] = road.world.chains.values();
      ok(only);
      chain = only;
      asset = caip19(road.chain.caip2, road.chain.usdc.address);
    });
    after(() => road.close());

    const failedChecks = async () =>
      (await runOperation(road.world, "ledger check", {})).filter(({ verdict }) => verdict === "fail");
    const readLines = async (query: OperationInput<"ledger export">) =>
      (await runOperation(road.world, "ledger export", query)).lines;

    test("a payment and its sweep leave a zero inbox balance, and every check passes", async () => {
      const intent = await road.create();
      await road.pay(intent, 10_000n);
      await road.settle();
      deepEqual(await failedChecks(), []);
      const balances = await runOperation(road.world, "ledger balances", {});
      const token = { symbol: "USDC", decimals: 6 };
      deepEqual(balances, [
        { account: "fee:platform", asset, units: "50", token },
        { account: "inbox:*", asset, units: "0", token },
        { account: "payer:world", asset, units: "-10000", token },
        { account: "payout:world", asset, units: "9950", token },
      ]);
    });

    test("the export lists entries with their transactions, filtered by account, merchant and time", async () => {
      const all = await readLines({});
      deepEqual(
        all.map(({ account, amountUnits }) => [account.replace(/pi_.*/, "…"), amountUnits]),
        [
          ["payer:world", "-10000"],
          ["inbox:…", "10000"],
          ["payout:world", "9950"],
          ["inbox:…", "-9950"],
          ["fee:platform", "50"],
          ["inbox:…", "-50"],
        ],
      );
      const [first] = all;
      ok(first);
      deepEqual([first.accountId, first.asset, first.reverses], [road.account.id, asset, ""]);
      match(first.txHash, /^0x[0-9a-f]{64}$/);
      deepEqual(await readLines({ account: "fee:platform" }), [all[4]]);
      deepEqual(await readLines({ account: road.account.id }), all);
      await rejects(readLines({ account: "acct_nobody" }), /There is no account acct_nobody\./);
      deepEqual(await readLines({ from: "2001-01-01", to: "2002-01-01T00:00:00Z" }), []);
      deepEqual(await readLines({ posting: all[3]?.posting, place: all[3]?.place }), all.slice(4));
    });

    test("a reorg reverses booked entries, and a later block books them again", async () => {
      const intent = await road.create();
      const paid = await road.pay(intent, 700n);
      const bytes = await road.chain.signedOf(paid as `0x${string}`);
      await watchNow(road.world, chain);
      await road.chain.reorg(1);
      await road.chain.mine(1);
      await watchNow(road.world, chain);
      const lines = async () =>
        (await readLines({ account: `inbox:${intent.id}` })).map((line: LedgerLine) => [
          line.amountUnits,
          line.reverses !== "",
        ]);
      deepEqual(await lines(), [
        ["700", false],
        ["-700", true],
      ]);
      await road.chain.sendSigned(bytes);
      await watchNow(road.world, chain);
      deepEqual((await lines())[2], ["700", false]);
      await road.settle();
      deepEqual(await failedChecks(), []);
    });

    test("the balance comparison with the chain finds an unrecorded transfer", async () => {
      const intent = await road.create();
      await road.pay(intent, 30n);
      await watchNow(road.world, chain);
      deepEqual(await failedChecks(), []);
      // A transfer in an unread block, and a cursor that counts the block as read.
      await road.pay(intent, 12n);
      const { number, hash, parentHash } = await road.chain.client.getBlock();
      await sql`insert into block (chain, number, hash, parent_hash) values (${chain.caip2}, ${number}, ${hash}, ${parentHash})`.execute(
        road.world.db.root,
      );
      await sql`update chain_cursor set booked_number = booked_number + 1`.execute(road.world.db.root);
      const differences = (await compareBalances(road.world, chain, { inboxesMax: 1_000 })).flatMap(
        (one) => one.differences,
      );
      deepEqual(
        differences.map(({ intentId, ledgerUnits, chainUnits }) => [intentId, ledgerUnits, chainUnits]),
        [[intent.id, 30n, 42n]],
      );
      match((await failedChecks()).map(({ found }) => found).join(), /The ledger and the chain differ/);
      await sql`update chain_cursor set booked_number = booked_number - 1`.execute(road.world.db.root);
      await sql`delete from block where number = ${number}`.execute(road.world.db.root);
      await road.settle();
      deepEqual(await failedChecks(), []);
    });

    describe("rows edited with disabled triggers", () => {
      // Some checks cover only blocks that were read twice.
      before(async () => {
        await road.chain.finalize();
        await watchNow(road.world, chain);
        deepEqual(await failedChecks(), []);
      });
      const tamperings: readonly (readonly [edit: string, undo: string, found: readonly string[]])[] = [
        [
          "update ledger_entry set amount_units = amount_units + 1 where posting_id = 1 and place = 2",
          "update ledger_entry set amount_units = amount_units - 1 where posting_id = 1 and place = 2",
          ["posting-sums-to-zero", "asset-sums-to-zero", "balance-matches-entries"],
        ],
        [
          "update ledger_entry set account = 'payout:world' where posting_id = 3 and place = 1",
          "update ledger_entry set account = 'fee:platform' where posting_id = 3 and place = 1",
          ["movement-has-posting"],
        ],
        [
          "update ledger_balance set balance_units = balance_units + 5",
          "update ledger_balance set balance_units = balance_units - 5",
          ["balance-matches-entries"],
        ],
        [
          "update movement set amount_units = amount_units + 1 where id = 1",
          "update movement set amount_units = amount_units - 1 where id = 1",
          ["movement-has-posting", "sweep-empties-inbox", "deposit-matches-movement"],
        ],
        [
          "update intent set counted_units = counted_units + 1 where seq = 1",
          "update intent set counted_units = counted_units - 1 where seq = 1",
          ["intent-totals-match-deposits"],
        ],
        [
          "update settlement set fee_units = fee_units - 1, net_units = net_units + 1 where seq = 1",
          "update settlement set fee_units = fee_units + 1, net_units = net_units - 1 where seq = 1",
          ["fee-matches-intent", "intent-totals-match-settlements"],
        ],
        [
          "update settlement set chain_tx = '0x' || reverse(substr(chain_tx, 3)) where status = 'landed'",
          "update settlement set chain_tx = '0x' || reverse(substr(chain_tx, 3)) where status = 'landed'",
          ["landed-sweep-is-shown"],
        ],
        [
          `update event set type = ${EVENT_TYPES["deposit.held"]} where type = ${EVENT_TYPES["deposit.counted"]}`,
          `update event set type = ${EVENT_TYPES["deposit.counted"]} where type = ${EVENT_TYPES["deposit.held"]}`,
          ["deposit-has-event"],
        ],
        [
          "update block set parent_hash = parent_hash || '0'",
          "update block set parent_hash = left(parent_hash, -1)",
          ["blocks-are-linked"],
        ],
        [
          "update inbox set address = '0x' || reverse(substr(address, 3))",
          "update inbox set address = '0x' || reverse(substr(address, 3)) where true",
          ["intent-has-inbox", "movement-has-inbox"],
        ],
      ];
      for (const [edit, undo, expected] of tamperings) {
        test(edit, async () => {
          const runWithoutTriggers = async (statement: string) => {
            await road.world.db.transaction(async (tx) => {
              const tables = ["ledger_entry", "ledger_balance", "inbox"];
              for (const table of tables) await sql.raw(`alter table ${table} disable trigger user`).execute(tx);
              await sql.raw(statement).execute(tx);
              for (const table of tables) await sql.raw(`alter table ${table} enable trigger user`).execute(tx);
            });
          };
          await runWithoutTriggers(edit);
          const found = (await runLedgerChecks(road.world.db)).map(({ check }) => check);
          await runWithoutTriggers(undo);
          deepEqual(
            expected.filter((name) => !found.includes(name)),
            [],
            found.join(),
          );
          deepEqual(await runLedgerChecks(road.world.db), []);
        });
      }
    });
  });
}
