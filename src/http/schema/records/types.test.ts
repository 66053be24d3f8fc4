import assert from "node:assert/strict";
import { test } from "node:test";
import type { DepositRecord } from "../../../deposit/depositRecord.ts";
import type { SourceInboxRecord } from "../../../inbox/issueSourceInbox.ts";
import type { OriginListing } from "../../../inbox/listOrigins.ts";
import type { IntentRecord } from "../../../intent/intentRecord.ts";
import type { SettlementRecord } from "../../../settlement/settlementRecord.ts";
import type { FromSchema } from "../jsonSchema.ts";
import type { deposit } from "./deposit.ts";
import type { intentOrigins, sourceInbox } from "./origins.ts";
import type { paymentIntent } from "./paymentIntent.ts";
import type { settlement } from "./settlement.ts";

// The records that the stations make and the schemas that describe them must agree. The compiler is the test: an optional or a
// nullable field on one side alone, another enumeration, a field too many or too few, and these lines have an error.

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
/** Metadata is the merchant's own, and its type is no more than that. */
type WithoutMetadata<T> = Omit<T, "metadata">;

const schemaMatchesRecord: {
  paymentIntent: IsSameType<WithoutMetadata<FromSchema<typeof paymentIntent>>, WithoutMetadata<IntentRecord>>;
  deposit: IsSameType<FromSchema<typeof deposit>, DepositRecord>;
  settlement: IsSameType<FromSchema<typeof settlement>, SettlementRecord>;
  origins: IsSameType<WithStringNamespaces<FromSchema<typeof intentOrigins>>, WithStringNamespaces<OriginListing>>;
  sourceInbox: IsSameType<FromSchema<typeof sourceInbox>, SourceInboxRecord>;
} = { paymentIntent: true, deposit: true, settlement: true, origins: true, sourceInbox: true };

/** The catalogue's namespaces are texts to the station that lists them. */
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
