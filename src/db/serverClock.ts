// The one door to the database's own clock. What several processes count together is dated by it, so that the clock of none of them
// matters; everything else gets its time as a parameter.

/** SQL for the milliseconds of the database's clock at the beginning of the statement that it stands in, the same everywhere in it, rounded up. */
export const serverClockMs = "ceil(extract(epoch from statement_timestamp()) * 1000)::bigint";
