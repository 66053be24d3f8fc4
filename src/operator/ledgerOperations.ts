import { sql } from "kysely";
import { compareBalances, type BalanceComparison } from "../audit/compareBalances.ts";
import { ledgerAuditChecks, runLedgerChecks } from "../audit/runLedgerChecks.ts";
import { findAsset } from "../catalog/catalog.ts";
import { ProviderFailed } from "../chain/reader.ts";
import { ChainMismatch } from "../chain/providers.ts";
import { caip19, type Caip2 } from "../kernel/caip.ts";
import type { World } from "../world.ts";
import { CommandError } from "./errors.ts";
import { parseTime } from "../kernel/text/parseTime.ts";
import { getAccount } from "./team/getAccount.ts";
import type { Finding } from "./doctor/finding.ts";
import { getIntent } from "./intentOperations.ts";
import { optionalNumber, optionalText, type InputOf } from "./operation/inputFields.ts";
import { defineOperatorOperation } from "./operation/operatorOperation.ts";

/** A finding with the rows that break the check. */
export type LedgerFinding = Finding & { rows: unknown[] };

const INBOXES_MAX = 1_000_000_000;
const ROWS_SHOWN_MAX = 3;

/** Runs every check of the ledger and compares the ledger with the chains. */
export const checkLedger = defineOperatorOperation({
  effect: "read",
  input: { inboxes: optionalNumber({ min: 1, max: INBOXES_MAX }) },
  run: (world, { inboxes }) => runAllChecks(world, inboxes),
});

async function runAllChecks(world: World, inboxesMax: number | undefined): Promise<LedgerFinding[]> {
  const violations = new Map((await runLedgerChecks(world.db)).map((violation) => [violation.check, violation]));
  const checked = ledgerAuditChecks.map(({ name }): LedgerFinding => {
    const violation = violations.get(name);
    if (violation === undefined) return { what: name, verdict: "ok", found: "holds", rows: [] };
    return {
      what: name,
      verdict: "fail",
      found: `${violation.meaning}${formatRows(violation.rows)}`,
      rows: violation.rows,
    };
  });
  const compared = await Promise.all(
    [...world.chains.values()].map(async (chain): Promise<LedgerFinding[]> => {
      try {
        return (await compareBalances(world, chain, { inboxesMax })).map((comparison) =>
          comparisonFinding(world, comparison),
        );
      } catch (error) {
        if (!(error instanceof ProviderFailed || error instanceof ChainMismatch)) throw error;
        return [
          { what: `${findChainName(world, chain.caip2)}: balances`, verdict: "fail", found: error.message, rows: [] },
        ];
      }
    }),
  );
  return [...checked, ...(await findUnexplainedBalances(world)), ...compared.flat()];
}

function formatRows(rows: readonly unknown[]): string {
  const shown = rows.slice(0, ROWS_SHOWN_MAX).map((row) =>
    Object.entries(row as Record<string, unknown>)
      .map(([key, value]) => `${key} ${String(value)}`)
      .join(", "),
  );
  return shown.map((row) => `\n    ${row}`).join("") + (rows.length > shown.length ? "\n    …" : "");
}

function comparisonFinding(world: World, comparison: BalanceComparison): LedgerFinding {
  const { chain, token, comparedInboxes, totalInboxes, differences } = comparison;
  const what = `${findChainName(world, chain)}: ${findAsset(world.catalog, chain, token)?.symbol ?? token} in inboxes`;
  const rows = differences.map(({ intentId, inbox, blockNumber, ledgerUnits, chainUnits }) => ({
    intent: intentId,
    inbox,
    block: blockNumber,
    ledger: ledgerUnits,
    chain: chainUnits,
  }));
  if (rows.length > 0)
    return { what, verdict: "fail", found: `The ledger and the chain differ.${formatRows(rows)}`, rows };
  if (comparedInboxes === 0 && totalInboxes > 0)
    return { what, verdict: "warn", found: "no recorded block's balances can be read now; try again", rows: [] };
  const scope =
    comparedInboxes < totalInboxes ? `the newest ${comparedInboxes} of ${totalInboxes}` : String(comparedInboxes);
  return { what, verdict: "ok", found: `${scope} match the ledger`, rows: [] };
}

function findChainName(world: World, chain: Caip2): string {
  return world.catalog.chains.find(({ caip2 }) => caip2 === chain)?.name ?? chain;
}

/** Lists the accounts of unexplained money that have a balance. Normally they are all empty. */
async function findUnexplainedBalances(world: World): Promise<LedgerFinding[]> {
  const { rows } = await sql<{ account: string; asset: string; units: bigint }>`
    select account, asset, sum(amount_units) as units from ledger_entry
    where account like 'suspense:%' or account like 'unseen:%' or account = 'loss:reorg'
    group by account, asset having sum(amount_units) <> 0 order by account, asset`.execute(world.db.root);
  return rows.map((row) => ({
    what: row.account,
    verdict: "warn",
    found: `${row.units} units of ${displayAsset(row.asset)} are not explained`,
    rows: [row],
  }));
}

/** `token` is null where the catalogue no longer lists it. */
export type BalanceOutput = {
  account: string;
  asset: string;
  units: string;
  token: { symbol: string; decimals: number } | null;
};

/** The balance of each account and asset. All inboxes count as one account. */
export const listLedgerBalances = defineOperatorOperation({ effect: "read", input: {}, run: readBalances });

async function readBalances(world: World): Promise<BalanceOutput[]> {
  const { rows } = await sql<{ account: string; asset: string; units: bigint }>`
    select case when account like 'inbox:%' then 'inbox:*' else account end as account, asset, sum(amount_units) as units
    from ledger_entry group by 1, 2 order by asset, account`.execute(world.db.root);
  const tokens = new Map(world.catalog.assets.map((each) => [displayAsset(caip19(each.chain, each.token)), each]));
  return rows.map((row) => {
    const asset = displayAsset(row.asset);
    const known = tokens.get(asset);
    const token = known === undefined ? null : { symbol: known.symbol, decimals: known.decimals };
    return { account: row.account, asset, units: String(row.units), token };
  });
}

export type LedgerLine = {
  posting: string;
  place: number;
  bookedAt: string;
  account: string;
  asset: string;
  amountUnits: string;
  intentId: string;
  accountId: string;
  chain: string;
  txHash: string;
  blockNumber: string;
  /** The posting that this one reverses; empty otherwise. */
  reverses: string;
};

export type LedgerPage = { lines: LedgerLine[]; next: { posting: string; place: number } | null };

const PAGE_SIZE = 1_000;
const PAGE_INPUT = {
  account: optionalText,
  from: optionalText,
  to: optionalText,
  posting: optionalText,
  place: optionalNumber({ min: 0, max: 99 }),
} as const;

/** Reads one page of entries in booking order: all, of one ledger account, or of one merchant. */
export const readLedgerPage = defineOperatorOperation({
  effect: "read",
  input: PAGE_INPUT,
  run: readEntries,
});

async function readEntries(world: World, given: InputOf<typeof PAGE_INPUT>): Promise<LedgerPage> {
  const account = await readAccount(world, given.account);
  const after = { posting: given.posting ?? "0", place: given.place ?? 0 };
  if (!/^\d{1,18}$/.test(after.posting)) throw new CommandError("posting must be a whole number.");
  const { from, to } = { from: parseTimeField(given, "from"), to: parseTimeField(given, "to") };
  const isMerchant = account?.startsWith("acct_") === true;
  const conditions = [
    sql`(entry.posting_id, entry.place) > (${after.posting}::bigint, ${after.place}::int)`,
    // The period's ends translate to posting ids, which the index covers.
    ...(from === undefined
      ? []
      : [sql`entry.posting_id >= (select min(id) from ledger_posting where booked_at >= ${from}::timestamptz)`]),
    ...(to === undefined
      ? []
      : [sql`entry.posting_id <= (select max(id) from ledger_posting where booked_at < ${to}::timestamptz)`]),
    ...(from === undefined ? [] : [sql`posting.booked_at >= ${from}::timestamptz`]),
    ...(to === undefined ? [] : [sql`posting.booked_at < ${to}::timestamptz`]),
    ...(account === undefined
      ? []
      : [isMerchant ? sql`intent.account_id = ${account}` : sql`entry.account = ${account}`]),
  ];
  const { rows } = await sql<LedgerRow>`
    select entry.posting_id, entry.place, posting.booked_at, entry.account, entry.asset, entry.amount_units, posting.chain,
      posting.chain_tx, posting.block_number, posting.reverses, substr(posting.custody, 7) as intent_id, intent.account_id
    from ledger_entry entry join ledger_posting posting on posting.id = entry.posting_id
    left join intent on intent.id = substr(posting.custody, 7)
    where ${sql.join(conditions, sql` and `)}
    order by entry.posting_id, entry.place limit ${PAGE_SIZE}`.execute(world.db.root);
  const last = rows.at(-1);
  const isMore = last !== undefined && rows.length === PAGE_SIZE;
  return {
    lines: rows.map(toLedgerLine),
    next: isMore ? { posting: String(last.posting_id), place: last.place } : null,
  };
}

const SYSTEM_ACCOUNTS: readonly string[] = ["payer:world", "payout:world", "fee:platform", "fee:bridge", "loss:reorg"];

/**
 * Reads the account filter: a merchant account or a ledger account, possibly without entries. Throws CommandError for
 * any other name.
 */
async function readAccount(world: World, account: string | undefined): Promise<string | undefined> {
  if (account === undefined || SYSTEM_ACCOUNTS.includes(account)) return account;
  if (account.startsWith("acct_")) await getAccount(world, account);
  else if (account.startsWith("inbox:pi_")) await getIntent(world, account.slice("inbox:".length));
  else if (!/^(?:hub|suspense|unseen|bridge):[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}$/.test(account))
    throw new CommandError(
      `There is no account ${account}: give acct_…, inbox:pi_…, ${SYSTEM_ACCOUNTS.join(", ")}, or hub:, suspense: or unseen: with a chain such as eip155:8453.`,
    );
  return account;
}

type LedgerRow = {
  posting_id: bigint;
  place: number;
  booked_at: Date;
  account: string;
  asset: string;
  amount_units: bigint;
  chain: string;
  chain_tx: string;
  block_number: bigint;
  reverses: bigint | null;
  intent_id: string;
  account_id: string | null;
};

function toLedgerLine(row: LedgerRow): LedgerLine {
  return {
    posting: String(row.posting_id),
    place: row.place,
    bookedAt: row.booked_at.toISOString(),
    account: row.account,
    asset: displayAsset(row.asset),
    amountUnits: String(row.amount_units),
    intentId: row.intent_id,
    accountId: row.account_id ?? "",
    chain: row.chain,
    txHash: row.chain_tx,
    blockNumber: String(row.block_number),
    reverses: row.reverses === null ? "" : String(row.reverses),
  };
}

function parseTimeField(given: InputOf<typeof PAGE_INPUT>, key: "from" | "to"): string | undefined {
  const text = given[key];
  const time = text === undefined ? undefined : parseTime(text);
  if (text !== undefined && time === undefined) throw new CommandError(`${key} must be a day or a time.`);
  return time;
}

/** Formats an asset as CAIP-19, with the token address in checksum case. */
function displayAsset(asset: string): string {
  const [chain = "", token = ""] = asset.split("/");
  return caip19(chain as Caip2, token.slice(token.indexOf(":") + 1));
}
