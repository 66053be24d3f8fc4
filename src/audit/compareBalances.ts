import { sql } from "kysely";
import { watchedTokens, type Catalog } from "../catalog/catalog.ts";
import type { Chain } from "../chain/chain.ts";
import type { Db } from "../db/database.ts";
import { array } from "../db/parameters.ts";
import { assetSql } from "../ledger/assetSql.ts";
import { isInboxOnChain } from "../intent/inboxStore.ts";
import type { Caip2 } from "../kernel/caip.ts";

// Compares the ledger with the chain. A transfer that this service never saw leaves no row to query, but it changes the balance on the
// chain. The ledger is booked up to one block, and each inbox must hold the booked balance at that block.

export type BalanceDifference = {
  intentId: string;
  inbox: string;
  token: string;
  /** The block of both balances. */
  blockNumber: bigint;
  ledgerUnits: bigint;
  /** More than the ledger: an unseen deposit, or a balance change without a transfer. Less: a withdrawal without a transfer. */
  chainUnits: bigint;
};

export type BalanceComparison = {
  chain: Caip2;
  token: string;
  /** The number of compared inboxes, and of all inboxes. */
  comparedInboxes: number;
  totalInboxes: number;
  differences: BalanceDifference[];
};

/** Inboxes in one request to the chain. */
const PAGE_MAX = 100;

/**
 * Compares all inboxes, or the newest `inboxesMax`, with one chain, for each of its tokens, page by page. Each difference is compared again at the ledger's
 * current block, so that a reorganisation meanwhile is not reported as a loss. Throws ProviderFailed when no provider answers.
 */
export async function compareBalances(
  world: { db: Db; catalog: Catalog },
  chain: Chain,
  { inboxesMax = Infinity }: { inboxesMax?: number | undefined } = {},
): Promise<BalanceComparison[]> {
  const tokens = watchedTokens(world.catalog, chain.caip2);
  const comparisons = tokens.map((token): BalanceComparison => ({
    chain: chain.caip2,
    token,
    comparedInboxes: 0,
    totalInboxes: 0,
    differences: [],
  }));
  const { total } = await world.db.root
    .selectFrom("inbox")
    .select((select) => select.fn.countAll<bigint>().as("total"))
    .where(isInboxOnChain(chain.caip2))
    .executeTakeFirstOrThrow();
  let belowSeq: bigint | undefined;
  for (let compared = 0; compared < inboxesMax; compared += PAGE_MAX) {
    const limit = Math.min(PAGE_MAX, inboxesMax - compared);
    const inboxes = await listInboxes(world.db, { chain: chain.caip2, belowSeq, limit });
    if (inboxes.length === 0) break;
    belowSeq = inboxes.at(-1)?.seq;
    const addresses = inboxes.map(({ address }) => address);
    for (const comparison of comparisons) {
      const { token } = comparison;
      const suspects = await findDifferences(world.db, chain, { addresses, token });
      const suspectAddresses = suspects.map(({ inbox }) => inbox);
      comparison.differences.push(...(await findDifferences(world.db, chain, { addresses: suspectAddresses, token })));
      comparison.comparedInboxes += addresses.length;
      comparison.totalInboxes = Number(total);
    }
  }
  return comparisons;
}

async function listInboxes(
  db: Db,
  { chain, belowSeq, limit }: { chain: Caip2; belowSeq: bigint | undefined; limit: number },
): Promise<{ address: string; seq: bigint }[]> {
  return db.root
    .selectFrom("inbox")
    .select(["address", "seq"])
    .where(isInboxOnChain(chain))
    .$if(belowSeq !== undefined, (select) => select.where("seq", "<", belowSeq ?? 0n))
    .orderBy("seq", "desc")
    .limit(limit)
    .execute();
}

async function findDifferences(
  db: Db,
  chain: Chain,
  { addresses, token }: { addresses: readonly string[]; token: string },
): Promise<BalanceDifference[]> {
  if (addresses.length === 0) return [];
  const rows = await readLedgerBalances(db, { chain: chain.caip2, addresses, token });
  const blockNumber = rows[0]?.blockNumber;
  if (blockNumber === undefined || blockNumber < 0n) return [];
  const owners = rows.map(({ inbox }) => inbox);
  const balances = await chain.providers.balances(token, owners, { blockNumber });
  return rows.flatMap((row, index) => {
    const chainUnits = balances[index] ?? 0n;
    return chainUnits === row.ledgerUnits ? [] : [{ ...row, token, chainUnits }];
  });
}

/** Reads balances and block in one statement, so that they belong together. */
async function readLedgerBalances(
  db: Db,
  { chain, addresses, token }: { chain: Caip2; addresses: readonly string[]; token: string },
): Promise<{ intentId: string; inbox: string; blockNumber: bigint; ledgerUnits: bigint }[]> {
  const { rows } = await sql<{ intentId: string; inbox: string; blockNumber: bigint; ledgerUnits: bigint }>`
    select inbox.intent_id as "intentId", inbox.address as inbox, chain_cursor.booked_number as "blockNumber",
      coalesce(balance.balance_units, 0) as "ledgerUnits"
    from inbox join chain_cursor on chain_cursor.chain = ${chain}
    left join ledger_balance balance on balance.holder = 'inbox:' || inbox.intent_id and balance.account = balance.holder
      and balance.asset = ${assetSql(sql`chain_cursor.chain`, sql`${token}::text`)}
    where inbox.address = any(${array(addresses, "text")}) and ${isInboxOnChain(chain)} and inbox.token in ('', ${token})
    order by inbox.seq`.execute(db.root);
  return rows;
}
