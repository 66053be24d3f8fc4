/**
 * Statements that may read more than they return, each by a part of its text, with the reason. `node test/cost/main.ts`
 * prints which were needed; one that no setting needs has to go.
 */
const EXEMPT_STATEMENTS: readonly { text: string; because: string }[] = [
  {
    text: 'select * from "intent" where "status" = $1 order by "seq" desc limit',
    because: "an operator types it, and an index would cost every create",
  },
  {
    text: 'select * from "account" order by "created_at", "id" limit',
    because: "an operator types it, and accounts are few",
  },
  {
    text: "with asked as ( select * from unnest($1::text[], $2::text[], $3::text[], $4::int8[]) as asked (intent_id, chain, token, dust_from)",
    because: "it adds up dust: each transfer is read in one round and never again",
  },
  {
    text: "delete from block where chain = $1 and number >= $2 and number <= $3",
    because: "it visits each block once, to see whether a movement is in it",
  },
  {
    text: "update api_key set last_used_at = used.at from unnest(",
    because: "it writes the keys of a minute at once, and keys are few",
  },
  {
    text: ") as looked where",
    because: "a page with a filter that no index has looks through a thousand intents at most, whatever the history",
  },
  {
    text: "order by seq desc offset $",
    because: "it finds where such a page stops looking, in an index",
  },
  {
    text: "from event join account on account.number = event.account_number left join intent on intent.seq = event.intent_number where",
    because: "an operator types it; without statistics the planner may sort the account's events",
  },
];

export function isExempt({ text }: { text: string }): boolean {
  return EXEMPT_STATEMENTS.some((statement) => text.includes(statement.text));
}
