import { sql, type Kysely } from "kysely";

// A movement belongs to the intent whose inbox it names, for ever. A foreign key says less than that, and takes a lock on the intent's row for
// each movement: after an outage that wrote every paid intent's page anew, and cost as much as the movement itself.

const WRONG = "using errcode = 'integrity_constraint_violation'";

const statements: readonly string[] = [
  `alter table movement drop constraint movement_intent_id_fkey`,
  `create function movements_are_of_their_inbox() returns trigger language plpgsql set enable_seqscan = off as $body$
    declare wrong bigint;
    begin
      select id into wrong from fresh
        where (select inbox_address from intent where intent.id = fresh.intent_id) is distinct from fresh.inbox limit 1;
      if wrong is not null then
        raise exception 'movement % is not of the inbox of its intent', wrong ${WRONG};
      end if;
      return null;
    end $body$`,
  `create trigger movements_are_of_their_inbox after insert on movement referencing new table as fresh
    for each statement execute function movements_are_of_their_inbox()`,
  `create function movement_stays_of_its_inbox() returns trigger language plpgsql as $body$
    begin
      raise exception 'movement % stays that of its inbox', old.id ${WRONG};
    end $body$`,
  `create trigger movement_stays_of_its_inbox before update of intent_id, inbox on movement
    for each row execute function movement_stays_of_its_inbox()`,
  // What an intent pinned cannot change; that it is there as long as its movements is said here.
  `create function intents_stay() returns trigger language plpgsql as $body$
    begin
      raise exception 'an intent stays, since money may come into its inbox at any time' ${WRONG};
    end $body$`,
  `create trigger intents_stay before delete on intent for each statement execute function intents_stay()`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
