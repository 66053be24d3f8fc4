import type { Kysely } from "kysely";
import * as road from "./0001_road.ts";

/** One step of the schema. Its name is what the database remembers; a step that has been released is never changed. */
export type Migration = { readonly name: string; up(db: Kysely<unknown>): Promise<void> };

/** Every step in the order in which it is taken. New ones go to the end. */
export const migrations: readonly Migration[] = [{ name: "0001_road", up: road.up }];
