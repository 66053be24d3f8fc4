// The only use of the database's own clock. Processes that share a count date it with this clock, so that their own clocks need not
// agree. All other statements receive the time as a parameter.

/** SQL for the database clock in milliseconds at the start of the statement, rounded up. It is constant in the statement. */
export const serverClockMs = "ceil(extract(epoch from statement_timestamp()) * 1000)::bigint";
