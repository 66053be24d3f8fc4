import assert from "node:assert/strict";
import { test } from "node:test";
import type { DepositRecord } from "../../../deposit/depositRecord.ts";
import type { SourceInboxRecord } from "../../../inbox/issueSourceInbox.ts";
import type { OriginListing } from "../../../inbox/listOrigins.ts";
import type { IntentRecord } from "../../../intent/intentRecord.ts";
import type { SettlementRecord } from "../../../settlement/change/settlementRecord.ts";
import type { FromSchema } from "../jsonSchema.ts";
import type { deposit } from "./deposit.ts";
import type { intentOrigins, sourceInbox } from "./origins.ts";
import type { paymentIntent } from "./paymentIntent.ts";
import type { settlement } from "./settlement.ts";

// The stations' record types and the schemas must agree. The compiler checks it: an optional or nullable field on one
// side only, a different enum, or a missing field is a type error here.

type Plain<T> = T extends readonly (infer Item)[]
  ? Plain<Item>[]
  : T extends object
    ? { [Name in keyof T]: Plain<T[Name]> }
    : T;
type IsSameType<One, Other> = [Plain<One>] extends [Plain<Other>]
  ? [Plain<Other>] extends [Plain<One>]
    ? true
    : false
  : false;
/** The type of metadata is arbitrary JSON, so the comparison leaves it out. */
type WithoutMetadata<T> = Omit<T, "metadata">;

const schemaMatchesRecord: {
  paymentIntent: IsSameType<WithoutMetadata<FromSchema<typeof paymentIntent>>, WithoutMetadata<IntentRecord>>;
  deposit: IsSameType<FromSchema<typeof deposit>, DepositRecord>;
  settlement: IsSameType<FromSchema<typeof settlement>, SettlementRecord>;
  origins: IsSameType<WithStringNamespaces<FromSchema<typeof intentOrigins>>, WithStringNamespaces<OriginListing>>;
  sourceInbox: IsSameType<FromSchema<typeof sourceInbox>, SourceInboxRecord>;
} = { paymentIntent: true, deposit: true, settlement: true, origins: true, sourceInbox: true };

/** The catalog types its namespaces as strings. */
type WithStringNamespaces<T> = T extends "eip155" | "solana"
  ? string
  : T extends (infer Item)[]
    ? WithStringNamespaces<Item>[]
    : T extends object
      ? { [Name in keyof T]: WithStringNamespaces<T[Name]> }
      : T;

test("records and their schemas agree in their types", () => {
  assert.ok(Object.values(schemaMatchesRecord).every(Boolean));
});
