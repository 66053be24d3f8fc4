import type { Insertable } from "kysely";
import type { Chain } from "../../src/chain/chain.ts";
import type { ChainSender, SettleItem } from "../../src/chain/sender.ts";
import type { OutgoingTransactionTable } from "../../src/chain/outgoing/outgoingTables.ts";
import { TEST_CHAIN } from "./intents.ts";

/** Why each item would not settle; undefined where it would. */
export type Refusals = (items: readonly SettleItem[]) => Promise<(string | undefined)[]>;

/**
 * A chain whose sender stores transactions without bytes. `refusals` decides on each batch, and `batchKeyOf` on what
 * shares a batch.
 */
export function chainStoringNoBytes(refusals: Refusals, batchKeyOf: (item: SettleItem) => string = () => "one"): Chain {
  const sender: Pick<ChainSender, "batchKeys" | "isWithinFeeCeiling" | "refusals" | "prepare"> = {
    batchKeys: (items) => items.map(batchKeyOf),
    isWithinFeeCeiling: async () => true,
    refusals,
    prepare: async () => ({
      store: async (tx, at) => {
        const row: Insertable<OutgoingTransactionTable> = {
          chain: TEST_CHAIN,
          sender: "payer",
          status: "signed",
          created_at: at,
        };
        const inserted = await tx
          .insertInto("outgoing_transaction")
          .values(row)
          .returning("id")
          .executeTakeFirstOrThrow();
        return inserted.id;
      },
    }),
  };
  // Submitting uses no other part of a chain without an agreement rule.
  return { caip2: TEST_CHAIN, sender } as unknown as Chain;
}
