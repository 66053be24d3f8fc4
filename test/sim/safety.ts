import { sql } from "kysely";
import { checks } from "../../src/audit/runLedgerChecks.ts";
import { databaseOver } from "../../src/db/database.ts";
import type { FinalityTier } from "../../src/config.ts";
import { convertUnits, PRICE_DECIMALS } from "../../src/kernel/units.ts";
import type { SimDatabase } from "./database.ts";
import type { SimChain } from "./site.ts";

// What must hold at every moment. Most of it is asked of the rows, by the checks that an operator can run too; what was counted is compared with the
// chains themselves, of which nobody but a simulation knows the truth.

export type Violation = { rule: string; subject: string };

/** Every check of the rows as one statement. */
export function compileChecks(database: SimDatabase): string {
  const parts = checks.map(
    ({ name, query }) =>
      sql`select ${sql.lit(name)}::text as rule, row_to_json(found)::text as subject from (${query}) as found`,
  );
  const compiled = sql`${sql.join(parts, sql` union all `)} limit 5`.compile(databaseOver(database.server).read);
  if (compiled.parameters.length > 0) throw new Error("a check has a parameter");
  return compiled.sql;
}

type Counted = {
  id: string;
  intent_id: string;
  chain: string;
  token: string;
  chain_tx: string;
  position: number;
  block_hash: string;
  block_number: bigint;
  amount_units: bigint;
  token_decimals: number;
  inbox: string;
};

const COUNTED = `
  select deposit.id, deposit.intent_id, deposit.chain, deposit.token, deposit.chain_tx, deposit.position, deposit.block_hash, deposit.block_number,
    deposit.amount_units, deposit.token_decimals, intent.inbox_address as inbox
  from deposit join intent on intent.id = deposit.intent_id where deposit.status = 'counted' order by deposit.seq`;

/** Compares what is counted with the chains. A reorg that went deeper than the policy promises to survive excuses its chain. */
export class CountedDeposits {
  readonly #chains: ReadonlyMap<string, SimChain>;
  /** What was found final once, by deposit and block. */
  readonly #found = new Map<string, SimChain>();

  constructor(chains: readonly SimChain[]) {
    this.#chains = new Map(chains.map((chain) => [chain.chain.caip2, chain]));
  }

  check(database: SimDatabase): Violation[] {
    const rows = database.rows(COUNTED) as Counted[];
    return [...this.#takenBack(rows), ...this.#wrong(rows)];
  }

  /** What was final stays counted, whatever a provider says next. */
  #takenBack(rows: readonly Counted[]): Violation[] {
    const counted = new Set(rows.map(keyOf));
    return [...this.#found]
      .filter(([key, chain]) => !chain.isBroken && !counted.has(key))
      .map(([subject]) => ({ rule: "a final deposit is counted no longer", subject }));
  }

  #wrong(rows: readonly Counted[]): Violation[] {
    return rows.flatMap((row) => {
      const chain = this.#chains.get(row.chain);
      if (!chain || chain.isBroken) return [];
      const wrong = missingFromChain(chain, row) ?? this.#tooEarly(chain, row, rows);
      return wrong === undefined
        ? []
        : [{ rule: wrong, subject: `${row.id} ${row.chain_tx.slice(0, 10)}/${row.position}` }];
    });
  }

  #tooEarly(chain: SimChain, row: Counted, rows: readonly Counted[]): string | undefined {
    if (this.#found.has(keyOf(row))) return undefined;
    this.#found.set(keyOf(row), chain);
    const mine = rows.filter((other) => other.intent_id === row.intent_id && other.chain === row.chain);
    return isFinal(chain, row, mine) ? undefined : "counted before it was final";
  }
}

function keyOf({ id, block_hash }: Counted): string {
  return `${id}/${block_hash}`;
}

function missingFromChain({ chain }: SimChain, row: Counted): string | undefined {
  if (!chain.isCanonical(row.block_hash)) return "counted in a block that the chain has left";
  const receipt = chain.receiptsOf(row.chain_tx).find(({ blockHash }) => blockHash === row.block_hash);
  const log = receipt?.logs[row.position];
  const isThere =
    log?.address === row.token && log.transfer?.to === row.inbox && log.transfer.units === row.amount_units;
  return isThere ? undefined : "counted although the chain tells of no such transfer";
}

/** Whether the policy lets it be counted, by a head that is at least as high as the one that was known. */
function isFinal({ chain, plan }: SimChain, row: Counted, ofIntent: readonly Counted[]): boolean {
  const reach = ({ finality }: FinalityTier): bigint => {
    if ("confirmations" in finality) return chain.head.number - BigInt(finality.confirmations) + 1n;
    return chain.head.number - BigInt(plan.lag?.[finality.tag] ?? 1_000_000);
  };
  for (const [index, tier] of plan.finality.entries()) {
    const next = plan.finality[index + 1];
    if (row.block_number > reach(tier)) continue;
    if (next === undefined || tier.upToPriceUnits === undefined) return true;
    const atRisk = ofIntent.filter((other) => other.block_number > reach(next));
    const units = atRisk.reduce(
      (sum, other) => sum + convertUnits(other.amount_units, other.token_decimals, PRICE_DECIMALS),
      0n,
    );
    if (units <= tier.upToPriceUnits) return true;
  }
  return false;
}
