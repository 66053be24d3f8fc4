import { Fault } from "../../kernel/faults.ts";
import type { Query } from "../operation.ts";
import { characterCount, invalid } from "./fields.ts";
import { checkReference, REFERENCE_CHARACTERS_MAX } from "./reference.ts";

const LIMIT_DEFAULT = 10;
const LIMIT_MAX = 100;
const CURSOR_CHARACTERS_MAX = 200;

export type PageQuery = { limit: number; cursor: string | undefined };

/** Where a page begins and how long it is. Unknown parameters are ignored. Throws invalid_request or invalid_cursor. */
export function readPage(query: Query): PageQuery {
  const limit = single(query, "limit");
  if (limit !== undefined && !(/^[1-9]\d{0,2}$/.test(limit) && Number(limit) <= LIMIT_MAX)) {
    throw invalid("limit", `must be a whole number from 1 to ${LIMIT_MAX}`);
  }
  const cursor = single(query, "cursor");
  if (cursor !== undefined && !(cursor !== "" && cursor.length <= CURSOR_CHARACTERS_MAX)) {
    throw new Fault("invalid_cursor", { param: "cursor" });
  }
  return { limit: limit === undefined ? LIMIT_DEFAULT : Number(limit), cursor };
}

export function readReferenceFilter(query: Query): string | undefined {
  const reference = single(query, "merchantReference");
  if (reference === undefined) return undefined;
  if (reference === "" || characterCount(reference) > REFERENCE_CHARACTERS_MAX) {
    throw invalid("merchantReference", `must have 1 to ${REFERENCE_CHARACTERS_MAX} characters`);
  }
  return checkReference(reference);
}

function single(query: Query, name: string): string | undefined {
  const value = query[name];
  if (value === undefined || typeof value === "string") return value;
  throw invalid(name, "must be given once");
}
