import { sql, type Kysely } from "kysely";

// One table says whose an address is. A row is valid on one chain, or on every chain of its namespace where the address is the same on all.
// Rows never change: payers keep addresses, and money may come at any time.

const WRONG = "using errcode = 'integrity_constraint_violation'";

/** The owner of an address on a chain. The checks of the table leave at most one row. */
const ownerOf = (address: string, namespace: string, reference: string) => `(
  select inbox.intent_id from inbox
  where inbox.address = ${address} and inbox.namespace = ${namespace} and inbox.reference in ('', ${reference}))`;

const statements: readonly string[] = [
  `create table inbox (
    seq bigint generated always as identity,
    namespace text not null check (namespace in ('eip155','solana')),
    reference text not null,
    address text not null,
    intent_id text not null,
    kind text not null check (kind in ('deposit','source')),
    token text not null default '',
    created_at timestamptz not null,
    check ((namespace = 'eip155') = (reference = '')),
    check (namespace <> 'eip155' or (token = '' and address ~ '^0x[0-9a-f]{40}$'))
  )`,
  `insert into inbox (namespace, reference, address, intent_id, kind, token, created_at)
    select namespace, reference, address, intent_id, kind, token, created_at from (
      select seq, 'eip155' as namespace, '' as reference, inbox_address as address, id as intent_id, 'deposit' as kind,
        '' as token, created_at
      from intent
      union all
      select * from (
        select distinct on (issued.namespace, issued.reference, issued.address) intent.seq, issued.namespace, issued.reference,
          issued.address, issued.intent_id, 'source', coalesce(source_inbox.token, ''),
          coalesce(source_inbox.issued_at, intent.created_at)
        from inbox_address issued join intent on intent.id = issued.intent_id
        left join source_inbox using (namespace, reference, address, intent_id)
        where issued.namespace <> 'eip155'
        order by issued.namespace, issued.reference, issued.address, source_inbox.issued_at
      ) as beside
    ) as known order by seq, kind, created_at, address`,
  // After the rows: an index that is built at once takes a fraction of the time.
  `alter table inbox add primary key (seq)`,
  `alter table inbox add constraint inbox_address_once unique (address, namespace, reference)`,
  `alter table inbox add constraint inbox_of_intent unique (intent_id, namespace, reference, token)`,
  `alter table inbox add foreign key (intent_id) references intent (id)`,
  `create function inboxes_stay() returns trigger language plpgsql as $body$
    begin
      raise exception 'an inbox stays as it is: % is refused', lower(tg_op) ${WRONG};
    end $body$`,
  `create trigger inboxes_stay before update or delete or truncate on inbox for each statement execute function inboxes_stay()`,

  // ── source_inbox: the table above takes the place of the one that it referred to ──
  `alter table source_inbox drop constraint source_inbox_namespace_reference_address_intent_id_fkey`,
  `create function source_inboxes_are_inboxes() returns trigger language plpgsql set enable_seqscan = off as $body$
    begin
      if ${ownerOf("new.address", "new.namespace", "new.reference")} is distinct from new.intent_id then
        raise exception 'the source inbox % is no inbox of intent %', new.address, new.intent_id ${WRONG};
      end if;
      return new;
    end $body$`,
  `create trigger source_inboxes_are_inboxes before insert or update on source_inbox
    for each row execute function source_inboxes_are_inboxes()`,
  // The rows that are there already pass the same rule, or the step fails.
  `update source_inbox set address = address`,
  `drop table inbox_address`,

  // ── movement and intent: both look at the table above ──
  `create or replace function movements_are_of_their_inbox() returns trigger language plpgsql set enable_seqscan = off as $body$
    declare wrong bigint;
    begin
      select id into wrong from fresh
        where ${ownerOf("fresh.inbox", "split_part(fresh.chain, ':', 1)", "split_part(fresh.chain, ':', 2)")}
          is distinct from fresh.intent_id limit 1;
      if wrong is not null then
        raise exception 'movement % is not of an inbox of its intent', wrong ${WRONG};
      end if;
      return null;
    end $body$`,
  `alter table intent drop constraint intent_inbox_address_key`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
