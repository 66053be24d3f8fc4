import { sql, type Kysely } from "kysely";

// What the purges of old rows need: an index for each, so that a purge reads what it deletes, and the rules that keep a purge from
// deleting what is still needed.

const WRONG = "using errcode = 'integrity_constraint_violation'";

const statements: readonly string[] = [
  // ── chain: a closed transaction loses its bytes and keeps its row, to which settlements refer ──
  `alter table outgoing_transaction add column purged_at timestamptz`,
  // Bytes that are gone cannot be broadcast, so their transaction never opens again.
  `alter table outgoing_transaction add constraint outgoing_transaction_purged_is_closed
    check (purged_at is null or closed_at is not null)`,
  `create index outgoing_transaction_purge on outgoing_transaction (chain, closed_at) where closed_at is not null and purged_at is null`,
  `create index settlement_unfinished_outgoing on settlement (outgoing_id)
    where outgoing_id is not null and status not in ('landed', 'failed')`,
  `create function outgoing_purge_waits_for_settlements() returns trigger language plpgsql set enable_seqscan = off as $body$
    begin
      if exists (select from settlement where outgoing_id = new.id and status not in ('landed', 'failed')) then
        raise exception 'transaction % keeps its bytes until its settlements have ended', new.id ${WRONG};
      end if;
      return new;
    end $body$`,
  `create trigger outgoing_purge_waits_for_settlements before update of purged_at on outgoing_transaction
    for each row when (new.purged_at is not null) execute function outgoing_purge_waits_for_settlements()`,
  `create function outgoing_bytes_stay() returns trigger language plpgsql set enable_seqscan = off as $body$
    begin
      if exists (select from outgoing_transaction where id = old.outgoing_id and purged_at is null) then
        raise exception 'the bytes of transaction % stay until it is purged', old.outgoing_id ${WRONG};
      end if;
      return old;
    end $body$`,
  `create trigger outgoing_bytes_stay before delete on outgoing_attempt for each row execute function outgoing_bytes_stay()`,

  // ── deposit ──
  `create index deposit_agreement_agreed on deposit_agreement (asked_at) where state = 'agreed'`,

  // ── event: events up to this time may be gone, so that a check does not miss them ──
  `create table event_expiry (
    only_row boolean primary key default true check (only_row),
    expired_before timestamptz not null
  )`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
