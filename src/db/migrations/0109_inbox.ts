import { sql, type Kysely } from "kysely";

// Where an intent can be paid.

const statements: readonly string[] = [
  `create table source_inbox (
    intent_id text not null,
    namespace text not null,
    reference text not null,
    address text not null,
    issued_at timestamptz not null,
    token text default '' not null,
    constraint source_inbox_pkey primary key (intent_id, namespace, reference, token),
    constraint source_inbox_intent_id_fkey foreign key (intent_id) references intent(id)
  )`,
  // Origins that the operator switched on or off. An origin without a row is on.
  `create table origin_switch (
    chain text not null,
    token text not null,
    is_enabled boolean not null,
    changed_at timestamptz not null,
    constraint origin_switch_pkey primary key (chain, token)
  )`,
  `create function source_inboxes_are_inboxes()
   returns trigger
   language plpgsql
   set enable_seqscan to 'off'
  as $function$
      begin
        if (
    select inbox.intent_id from inbox
    where inbox.address = new.address and inbox.namespace = new.namespace and inbox.reference in ('', new.reference)) is distinct from new.intent_id then
          raise exception 'the source inbox % is no inbox of intent %', new.address, new.intent_id using errcode = 'integrity_constraint_violation';
        end if;
        return new;
      end $function$`,
  `create trigger source_inboxes_are_inboxes before insert or update on source_inbox for each row execute function source_inboxes_are_inboxes()`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
