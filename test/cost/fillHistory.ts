import pg from "pg";
import { fillSettlementDays } from "./fillSettlementDays.ts";

// Adds history to a database by copying the rows of one payment, with its intent and everything that hangs on it. The
// copies lie behind every cursor, so the road works on.

export type History = {
  /** An intent whose only payment is settled and booked. Its rows are the pattern. */
  patternIntentId: string;
  /** An intent with a payment of its own, which gets half of the payments. */
  busyIntentId: string;
  /** Payments, a multiple of four. Each adds three movements: the deposit, and the payout and fee of its settlement. */
  payments: number;
  /** Copies of the intent, at least a quarter of `payments`. The first ones share the other half, two each. */
  intents: number;
  /** The blocks that hold them. They must lie below the first block that the service has watched. */
  blocks: { first: number; last: number };
  /** Tiny transfers, as a flood leaves them: nine tenths in the busy intent's inbox, in transactions of many. */
  dust?: number;
  statistics?: Statistics;
};

/** When the planner's statistics were taken: never, before the history, or after it. */
export type Statistics = "never" | "when empty" | "now";

/** Each of the copied intents gets this many payments. */
const PAYMENTS_AN_INTENT = 2;
const DUST_A_TRANSACTION = 300;
const INTENTS_AN_ACCOUNT = 10;

/** Fills the database at `url`, which nothing else may use meanwhile, and updates the planner's statistics as asked. */
export async function fillHistory(url: string, history: History): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    // The triggers would compare each copy with the others. Every copy is as valid as its pattern.
    await client.query("set session_replication_role = replica");
    await client.query("set jit = off");
    const { statistics = "now" } = history;
    // The migrations have taken some: of the empty tables.
    await client.query(statistics === "when empty" ? "analyze" : "delete from pg_statistic where stawidth >= 0");
    await client.query("begin");
    await new HistoryFill(client, history).run();
    await client.query("commit");
    if (statistics === "now") await client.query("vacuum (analyze)");
  } finally {
    await client.end();
  }
}

/** Values of a copy by column, as SQL over `source` (the pattern's row), its number `k` from 1, and `n`. */
type Columns = Readonly<Record<string, string>>;
type Copy = { table: string; where: string; count: number; orderBy: string; columns: Columns };

class HistoryFill {
  readonly #client: pg.Client;
  readonly #history: History;

  constructor(client: pg.Client, history: History) {
    this.#client = client;
    this.#history = history;
  }

  async run(): Promise<void> {
    await this.#numberPattern();
    await this.#copyAccounts();
    await this.#copyIntents();
    await this.#addPrimedAccounts();
    await this.#copyPayments();
    await this.#addDust(this.#history.dust ?? 0);
    await this.#copyPostings();
    await this.#copyEvents();
    await this.#addTotals();
    await fillSettlementDays(this.#client);
    await this.#moveCursors();
  }

  get #paidIntents(): number {
    return Math.ceil(this.#history.payments / 2 / PAYMENTS_AN_INTENT);
  }

  /** The payments of the busy intent. */
  get #busyPayments(): number {
    return Math.floor(this.#history.payments / 2);
  }

  /**
   * Numbers the pattern's movements and postings and shortens its events, so that references between copies follow from
   * `n` alone.
   */
  async #numberPattern(): Promise<void> {
    const { patternIntentId } = this.#history;
    await this.#client.query(`
      create temporary table pattern_movement on commit drop as
        select id, chain_tx, direction, row_number() over (order by id) as k,
          (select max(id) from movement) as last_id, count(*) over () as size
        from movement where intent_id = '${patternIntentId}'`);
    await this.#client.query(`
      create temporary table pattern_posting on commit drop as
        select id, row_number() over (order by id) as k, (select max(id) from ledger_posting) as last_id, count(*) over () as size
        from ledger_posting where custody = 'inbox:${patternIntentId}'`);
    await this.#client.query("analyze pattern_movement, pattern_posting");
  }

  async #copyAccounts(): Promise<void> {
    const account = `(select account_id from intent where id = '${this.#history.patternIntentId}')`;
    const count = Math.ceil(this.#history.intents / INTENTS_AN_ACCOUNT);
    const accountId = idOf("acct", "n");
    await this.#copy({ table: "account", where: `id = ${account}`, count, orderBy: "id", columns: { id: accountId } });
    const key = { key_id: idOf("key", "n"), account_id: accountId, secret_hash: "sha256(n::text::bytea)" };
    await this.#copy({ table: "api_key", where: `account_id = ${account}`, count, orderBy: "key_id", columns: key });
    await this.#copy({
      table: "idempotent_answer",
      where: `account_id = ${account}`,
      count: this.#history.payments,
      orderBy: "key",
      columns: { key: "'history ' || k || ' ' || n" },
    });
  }

  async #copyIntents(): Promise<void> {
    const { patternIntentId } = this.#history;
    const count = this.#history.intents;
    const of = (table: string, orderBy: string, columns: Columns) =>
      this.#copy({ table, where: `intent_id = '${patternIntentId}'`, count, orderBy, columns });
    const intentId = idOf("pi", "n");
    await this.#copy({
      table: "intent",
      where: `id = '${patternIntentId}'`,
      count,
      orderBy: "id",
      columns: {
        id: intentId,
        inbox_address: addressOf("n"),
        widget_token_hash: "sha256(('history ' || n)::bytea)",
        created_at: `source.created_at - interval '1 minute' * (${count} - n)`,
        ...totalsOf(`case when n <= ${this.#paidIntents} then ${PAYMENTS_AN_INTENT} else 0 end`, "source"),
      },
    });
    const placed = { intent_id: intentId, address: addressOf("n") };
    await of("inbox", "seq", placed);
    await of("source_inbox", "reference", placed);
    await of("holding", "token", { intent_id: intentId });
    await of("view_hint", "token", { intent_id: intentId, expires_at: "source.expires_at - interval '1 day'" });
    await this.#copy({
      table: "ledger_balance",
      where: `holder = 'inbox:${patternIntentId}'`,
      count,
      orderBy: "account",
      columns: {
        holder: `'inbox:' || ${intentId}`,
        account: `replace(source.account, '${patternIntentId}', ${intentId})`,
      },
    });
  }

  /** The intent of each copy had an account that was closed. */
  async #addPrimedAccounts(): Promise<void> {
    await this.#client.query(`
      insert into primed_account (chain, intent_id, account_id, token, status, keep_until, retry_at, created_at, closed_at)
      select payout_namespace || ':' || payout_chain_reference, id, account_id, payout_token, 'closed', created_at, created_at, created_at, created_at
      from intent`);
  }

  async #copyPayments(): Promise<void> {
    const { patternIntentId, blocks } = this.#history;
    await this.#client.query(`
      insert into block (chain, hash, number, parent_hash)
      select movement.chain, ${hashOf("n")}, n, ${hashOf("n - 1")}
      from (select chain from movement where intent_id = '${patternIntentId}' limit 1) as movement,
        generate_series(${blocks.first}, ${blocks.last}) as copy (n)
      on conflict do nothing`);
    const placed = { intent_id: this.#intentId, block_number: this.#block, block_hash: hashOf(this.#block) };
    await this.#copyOfIntent("movement", "id", {
      ...placed,
      id: MOVEMENT_ID,
      inbox: this.#inbox,
      chain_tx: this.#chainTx("source.chain_tx"),
      place: "n * 4 + k",
      revision: this.#revision,
    });
    await this.#copyOfIntent("deposit", "id", {
      ...placed,
      id: idOf("dep", "n"),
      movement_id: "(select last_id + (n - 1) * size + k from pattern_movement where direction = 'in')",
      chain_tx: this.#chainTx("source.chain_tx"),
      settlement_id: idOf("set", "n"),
    });
    await this.#copyAll("deposit_agreement", "deposit_id", {
      where: `deposit_id in (select id from deposit where intent_id = '${patternIntentId}')`,
      columns: { deposit_id: idOf("dep", "n"), block_hash: hashOf(this.#block) },
    });
    const outgoingId = "(select max(id) from outgoing_transaction) + n";
    const outgoing = `(select outgoing_id from settlement where intent_id = '${patternIntentId}')`;
    await this.#copyOfIntent("settlement", "id", {
      intent_id: this.#intentId,
      block_number: this.#block,
      id: idOf("set", "n"),
      chain_tx: this.#chainTx("source.chain_tx"),
      outgoing_id: outgoingId,
    });
    await this.#copyOfIntent("sweep_agreement", "chain_tx", {
      intent_id: this.#intentId,
      chain_tx: this.#chainTx("source.chain_tx"),
    });
    await this.#copyAll("outgoing_attempt", "attempt", {
      where: `outgoing_id = ${outgoing}`,
      columns: { outgoing_id: outgoingId, chain_tx: this.#chainTx("source.chain_tx") },
    });
    // Nonces below zero collide with none that the account uses.
    await this.#copyAll("outgoing_transaction", "id", {
      where: `id = ${outgoing}`,
      columns: {
        id: outgoingId,
        nonce: "-n",
        mined_chain_tx: this.#chainTx("source.mined_chain_tx"),
        mined_block_number: this.#block,
      },
    });
  }

  /** It is summed and counted, and not in the ledger. */
  async #addDust(dust: number): Promise<void> {
    if (dust === 0) return;
    const { patternIntentId, busyIntentId, blocks, payments } = this.#history;
    const isBusy = "n % 10 <> 0";
    const other = `1 + n % ${this.#paidIntents}`;
    await this.#copy({
      table: "movement",
      where: `intent_id = '${patternIntentId}' and direction = 'in'`,
      count: dust,
      orderBy: "id",
      columns: {
        id: `(select last_id + ${payments} * size + n from pattern_movement limit 1)`,
        intent_id: `case when ${isBusy} then '${busyIntentId}' else ${idOf("pi", other)} end`,
        inbox: `case when ${isBusy} then (select inbox_address from intent where id = '${busyIntentId}') else ${addressOf(other)} end`,
        amount_units: "1",
        chain_tx: `'0xdd' || lpad(to_hex(n / ${DUST_A_TRANSACTION}), 62, '0')`,
        identity: `(n % ${DUST_A_TRANSACTION})::text`,
        place: `1000000 + n`,
        block_number: `(${blocks.first} + (n - 1) * ${blocks.last - blocks.first + 1}::bigint / ${dust})`,
        block_hash: hashOf(`(${blocks.first} + (n - 1) * ${blocks.last - blocks.first + 1}::bigint / ${dust})`),
        revision: `((select max(revision) from chain_cursor) + ${blocks.last})`,
      },
    });
    await this.#client.query(`
      update holding set dust_block = greatest(dust_block, ${blocks.last}), counted_block = greatest(counted_block, ${blocks.last}),
        dust_count = sums.count, dust_units = sums.count, dust_counted_at = (select min(created_at) from intent)
      from (select intent_id, count(*) from movement where chain_tx like '0xdd%' group by 1) as sums
      where sums.intent_id = holding.intent_id`);
    await this.#client.query(`
      update intent set received_units = received_units + sums.count, counted_units = counted_units + sums.count
      from (select intent_id, count(*) from movement where chain_tx like '0xdd%' group by 1) as sums where sums.intent_id = intent.id`);
  }

  async #copyPostings(): Promise<void> {
    const { patternIntentId } = this.#history;
    const custody = `'inbox:' || ${this.#intentId}`;
    await this.#copyAll("ledger_posting", "id", {
      where: `custody = 'inbox:${patternIntentId}'`,
      columns: {
        id: "(select last_id + (n - 1) * size + source.k from pattern_posting limit 1)",
        reference: `replace(replace(source.reference, source.chain_tx, ${this.#chainTx("source.chain_tx")}),
          '${patternIntentId}', ${this.#intentId})`,
        custody,
        chain_tx: this.#chainTx("source.chain_tx"),
        block_number: this.#block,
      },
    });
    await this.#copyAll("ledger_entry", "posting_id, place", {
      where: "posting_id in (select id from pattern_posting)",
      columns: {
        posting_id: `(select last_id + (n - 1) * size + posting.k from pattern_posting posting
          where posting.id = source.posting_id)`,
        account: `case when source.account like 'inbox:%' then ${custody} else source.account end`,
      },
    });
  }

  async #copyEvents(): Promise<void> {
    const { patternIntentId } = this.#history;
    const ofPattern = `intent_number = (select seq from intent where id = '${patternIntentId}')`;
    const size = `(select count(*) from event where ${ofPattern})`;
    await this.#copyAll("event", "position", {
      where: ofPattern,
      columns: {
        id: "decode(md5('event ' || n || ' ' || k), 'hex')",
        intent_number: `(select seq from intent where id = ${this.#intentId})`,
        // Of the events of deposits and settlements, the first value is the id.
        content: `case when source.format in (2, 3)
          then regexp_replace(source.content::text, '^\\["[^"]*"', '["' || lpad(n::text, 26, '0') || '"')::json else source.content end`,
        sequence: `(select last_sequence from event_counter where account_number = source.account_number) + (n - 1) * ${size} + k`,
      },
    });
    await this.#client.query(`
      update event_counter set last_sequence = (select max(sequence) from event where event.account_number = event_counter.account_number)`);
  }

  /** The busy intent's totals, as if the service had counted and settled its payments. */
  async #addTotals(): Promise<void> {
    const { patternIntentId, busyIntentId } = this.#history;
    const totals = Object.entries(totalsOf(String(this.#busyPayments), "pattern"));
    const sums = totals.map(([column, units]) => `${column} = busy.${column} + ${units}`);
    await this.#client.query(`
      update intent busy set ${sums.join()} from intent pattern
      where busy.id = '${busyIntentId}' and pattern.id = '${patternIntentId}'`);
  }

  async #moveCursors(): Promise<void> {
    for (const [table, column] of [
      ["movement", "id"],
      ["outgoing_transaction", "id"],
      ["ledger_posting", "id"],
    ])
      await this.#client.query(
        `select setval(pg_get_serial_sequence('${table}', '${column}'), (select max(${column}) from ${table}))`,
      );
    await this.#client.query("update chain_cursor set revision = (select max(revision) from movement)");
    for (const table of ["deposit_cursor", "settlement_cursor"])
      await this.#client.query(
        `update ${table} set (revision, movement_id) = (select revision, id from movement order by revision desc, id desc limit 1)`,
      );
  }

  #copyOfIntent(table: string, orderBy: string, columns: Columns): Promise<void> {
    return this.#copyAll(table, orderBy, { where: `intent_id = '${this.#history.patternIntentId}'`, columns });
  }

  #copyAll(table: string, orderBy: string, { where, columns }: Pick<Copy, "where" | "columns">): Promise<void> {
    return this.#copy({ table, where, count: this.#history.payments, orderBy, columns });
  }

  /**
   * Copies the pattern's rows `count` times. Columns that are not given keep the pattern's values, and identities are
   * new.
   */
  async #copy({ table, where, count, orderBy, columns }: Copy): Promise<void> {
    const { rows } = await this.#client.query<{ name: string }>(
      `select column_name as name from information_schema.columns
        where table_schema = 'public' and table_name = $1 and (is_identity = 'NO' or column_name = any($2))`,
      [table, Object.keys(columns)],
    );
    const names = rows.map(({ name }) => name);
    const values = names.map((name) => columns[name] ?? `source.${name}`);
    await this.#client.query(`
      insert into ${table} (${names.join()}) overriding system value
      select ${values.join()}
      from generate_series(1, ${count}) as copy (n),
        (select *, row_number() over (order by ${orderBy}) as k from ${table} where ${where}) as source
      order by n, k`);
  }

  /** The intent of payment `n`. */
  get #intentId(): string {
    const other = idOf("pi", `1 + n % ${this.#paidIntents}`);
    return `case when n <= ${this.#busyPayments} then '${this.#history.busyIntentId}' else ${other} end`;
  }

  get #inbox(): string {
    const busy = `(select inbox_address from intent where id = '${this.#history.busyIntentId}')`;
    return `case when n <= ${this.#busyPayments} then ${busy} else ${addressOf(`1 + n % ${this.#paidIntents}`)} end`;
  }

  get #block(): string {
    const { first, last } = this.#history.blocks;
    return `(${first} + (n - 1) * ${last - first + 1}::bigint / ${this.#history.payments})`;
  }

  get #revision(): string {
    return `((select max(revision) from chain_cursor) + ${this.#block})`;
  }

  /** Transactions of deposits and of settlements have numbers of their own. */
  #chainTx(source: string): string {
    const isOut = `(select direction = 'out' from pattern_movement movement where movement.chain_tx = ${source} limit 1)`;
    return `'0xaa' || lpad(to_hex(2 * n + ${isOut}::int), 62, '0')`;
  }
}

const MOVEMENT_ID = "(select last_id + (n - 1) * size + source.k from pattern_movement limit 1)";

/** The totals of an intent with this many of the pattern's payments. */
function totalsOf(payments: string, pattern: string): Columns {
  const columns = ["received_units", "counted_units", "settled_units", "fee_units", "net_units"];
  return Object.fromEntries(columns.map((column) => [column, `${payments} * ${pattern}.${column}`]));
}

function idOf(prefix: string, number: string): string {
  return `'${prefix}_' || lpad((${number})::text, 26, '0')`;
}

function addressOf(number: string): string {
  return `'0xee' || lpad(to_hex(${number}), 38, '0')`;
}

function hashOf(number: string): string {
  return `'0xbb' || lpad(to_hex(${number}), 62, '0')`;
}
