import { sql } from "kysely";
import { ledgerAuditChecks } from "../../src/audit/runLedgerChecks.ts";
import { createEmbeddedDatabase } from "../../src/db/database.ts";
import type { FinalityTier } from "../../src/config/config.ts";
import { convertUnits, PRICE_DECIMALS } from "../../src/kernel/units.ts";
import type { SimDatabase } from "./simDatabase.ts";
import type { ScriptedReceipt } from "./chain/transaction.ts";
import { MAX_FEE_PER_GAS } from "./plan.ts";
import { namingOf, type SimChain } from "./simWorld.ts";

// Rules that hold at every moment. The checks of the rows are the ones that operators run. Counted deposits are
// compared with the simulated chains, which are the truth.

export type Violation = { rule: string; subject: string };

const feeCeilingCheck = {
  name: "a signed fee exceeds the ceiling",
  query: sql`select outgoing_id, attempt, max_fee_per_gas::text from outgoing_attempt where max_fee_per_gas > ${sql.lit(String(MAX_FEE_PER_GAS))}::numeric`,
};

/** A statement with its parameters. */
export type CompiledChecks = { readonly sql: string; readonly parameters: readonly unknown[] };

/** All checks of the rows as one statement. */
export function compileLedgerChecks(database: SimDatabase): CompiledChecks {
  const parts = [...ledgerAuditChecks, feeCeilingCheck].map(
    ({ name, query }) =>
      sql`select ${sql.lit(name)}::text as rule, row_to_json(found)::text as subject from (${query}) as found`,
  );
  const { root } = createEmbeddedDatabase(database.server);
  return sql`${sql.join(parts, sql` union all `)} limit 5`.compile(root);
}

type CountedDepositRow = {
  id: string;
  intent_id: string;
  chain: string;
  token: string;
  chain_tx: string;
  identity: string;
  block_hash: string;
  block_number: bigint;
  amount_units: bigint;
  token_decimals: number;
  inbox: string;
};

/** As the API lists them. Without a deposit of its own, what a bridge gave is none. */
export const LISTED_DEPOSITS = `(
  select listed.* from listed_deposit listed join movement on movement.id = listed.movement_id
  where listed.id is not null or movement.explained_by is null)`;

const COUNTED_DEPOSITS_SQL = `
  select coalesce(deposit.id, 'dust ' || deposit.movement_id) as id, deposit.intent_id, deposit.chain, deposit.token, deposit.chain_tx,
    deposit.identity, deposit.block_hash, deposit.block_number, deposit.amount_units,
    coalesce(deposit.token_decimals, intent.payout_decimals) as token_decimals, intent.inbox_address as inbox
  from ${LISTED_DEPOSITS} as deposit join intent on intent.id = deposit.intent_id
  where deposit.status = 'counted' order by deposit.movement_id`;

/** Compares counted deposits with the chains. A reorg deeper than the policy tolerates exempts its chain. */
export class CountedDepositChecker {
  readonly #chains: ReadonlyMap<string, SimChain>;
  /** Deposits known as final, by deposit and block. */
  readonly #knownFinal = new Map<string, SimChain>();

  constructor(chains: readonly SimChain[]) {
    this.#chains = new Map(chains.map((chain) => [chain.chain.caip2, chain]));
  }

  check(database: SimDatabase): Violation[] {
    const rows = database.rows(COUNTED_DEPOSITS_SQL) as CountedDepositRow[];
    return [...this.#findUncounted(rows), ...this.#findInvalid(rows)];
  }

  /** A final deposit stays counted, whatever a provider answers later. */
  #findUncounted(rows: readonly CountedDepositRow[]): Violation[] {
    const counted = new Set(rows.map(keyOf));
    return [...this.#knownFinal]
      .filter(([key, chain]) => !chain.hadDeepReorg && !counted.has(key))
      .map(([subject]) => ({ rule: "a final deposit is no longer counted", subject }));
  }

  #findInvalid(rows: readonly CountedDepositRow[]): Violation[] {
    return rows.flatMap((row) => {
      const chain = this.#chains.get(row.chain);
      if (!chain || chain.hadDeepReorg) return [];
      const wrong = findChainMismatch(chain, row) ?? this.#findPremature(chain, row, rows);
      return wrong === undefined
        ? []
        : [{ rule: wrong, subject: `${row.id} ${row.chain_tx.slice(0, 10)}/${row.identity}` }];
    });
  }

  #findPremature(chain: SimChain, row: CountedDepositRow, rows: readonly CountedDepositRow[]): string | undefined {
    if (this.#knownFinal.has(keyOf(row))) return undefined;
    this.#knownFinal.set(keyOf(row), chain);
    const mine = rows.filter((other) => other.intent_id === row.intent_id);
    return isFinal(chain, row, {
      here: mine.filter((other) => other.chain === row.chain),
      elsewhereUnits: this.#exposedElsewhere(row, mine),
    })
      ? undefined
      : "counted before it was final";
  }

  /** What counted on other chains and is not final there by the strictest rule. Dust counts only when it is. */
  #exposedElsewhere(row: CountedDepositRow, mine: readonly CountedDepositRow[]): bigint {
    const exposed = mine.filter((other) => {
      const chain = other.chain === row.chain ? undefined : this.#chains.get(other.chain);
      if (chain === undefined) return false;
      const blocks = chain.plan.finality.map((tier) => highestFinalBlock(chain, tier));
      return blocks.some((block) => other.block_number > block);
    });
    return sumPriceUnits(exposed);
  }
}

function keyOf({ id, block_hash }: CountedDepositRow): string {
  return `${id}/${block_hash}`;
}

function findChainMismatch({ chain, plan }: SimChain, row: CountedDepositRow): string | undefined {
  if (!chain.isCanonical(row.block_hash)) return "counted in a block that the chain has replaced";
  const receipt = chain.receiptsOf(row.chain_tx).find(({ blockHash }) => blockHash === row.block_hash);
  const transfer = receipt && transfersByIdentity(receipt, plan.kind).get(row.identity);
  const isThere =
    transfer?.token === row.token && transfer.to === row.inbox && BigInt(transfer.amountText) === row.amount_units;
  return isThere ? undefined : "counted without such a transfer on the chain";
}

type NamedTransfer = ReturnType<ReturnType<typeof namingOf>["transfersOf"]>[number];
const namedTransfers = new WeakMap<ScriptedReceipt, ReadonlyMap<string, NamedTransfer>>();

/** A transaction's transfers, named once: one transaction may hold hundreds, and each is checked at every commit. */
function transfersByIdentity(
  receipt: ScriptedReceipt,
  kind: SimChain["plan"]["kind"],
): ReadonlyMap<string, NamedTransfer> {
  const known = namedTransfers.get(receipt);
  if (known !== undefined) return known;
  const named = new Map(
    namingOf(kind)
      .transfersOf(receipt)
      .map((transfer) => [transfer.identity, transfer]),
  );
  namedTransfers.set(receipt, named);
  return named;
}

/** The highest block below the head whose time is at most `timestampS`; -1 without one. */
function lastBlockUpTo(chain: SimChain["chain"], timestampS: number): bigint {
  let number = chain.head.number - 1n;
  while (number >= 0n && (chain.blockAt(number)?.timestampS ?? 0) > timestampS) number -= 1n;
  return number;
}

function highestFinalBlock({ chain, plan }: SimChain, { finality }: FinalityTier): bigint {
  if ("confirmations" in finality) return chain.head.number - BigInt(finality.confirmations) + 1n;
  if ("seconds" in finality) return lastBlockUpTo(chain, chain.head.timestampS - finality.seconds);
  return chain.head.number - BigInt(plan.finalityLag?.[finality.tag] ?? 1_000_000);
}

function sumPriceUnits(rows: readonly CountedDepositRow[]): bigint {
  return rows.reduce((sum, row) => sum + convertUnits(row.amount_units, row.token_decimals, PRICE_DECIMALS), 0n);
}

/** Whether the policy allows the deposit to count, at a head at least as high as the service's. */
function isFinal(
  chain: SimChain,
  row: CountedDepositRow,
  { here, elsewhereUnits }: { here: readonly CountedDepositRow[]; elsewhereUnits: bigint },
): boolean {
  const { finality } = chain.plan;
  for (const [index, tier] of finality.entries()) {
    const next = finality[index + 1];
    if (row.block_number > highestFinalBlock(chain, tier)) continue;
    if (next === undefined || tier.upToPriceUnits === undefined) return true;
    const finalByNext = highestFinalBlock(chain, next);
    const atRisk = here.filter((other) => other.block_number > finalByNext);
    if (sumPriceUnits(atRisk) + elsewhereUnits <= tier.upToPriceUnits) return true;
  }
  return false;
}
