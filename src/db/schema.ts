/**
 * The row types of all tables. Each station declares its own in `<station>Tables.ts`, and schema.sql shows all of them
 * with their constraints. numeric and int8 are bigint, bytea is Uint8Array, timestamptz is Date.
 */
export interface Schema {}
