import type { Selectable } from "kysely";
import type { SettlementTable } from "../db/schema.ts";

export type SettlementRow = Selectable<SettlementTable>;
/** A settlement as it will be written: its place in lists is the database's to give. */
export type Settlement = Omit<SettlementRow, "seq">;
