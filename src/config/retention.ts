import type { RetentionConfig } from "./config.ts";
import * as rules from "./rules.ts";
import { hasField, readField, readSection, type ConfigSection } from "./section.ts";

const RETENTION_KEYS = ["verificationsDays", "transactionsDays", "eventsDays", "deliveriesDays"] as const;

/** Far longer than any reorg, and than any dispute about a single answer of a provider. */
export const RETENTION_DEFAULT: RetentionConfig = {
  verificationsDays: 90,
  transactionsDays: 90,
  eventsDays: undefined,
  deliveriesDays: 30,
};

const DAYS_MAX = 3_650;
const VERIFICATIONS_DAYS_MIN = 7;
/** A reorg may reopen a transaction, which then needs its bytes. */
const TRANSACTIONS_DAYS_MIN = 30;
/** Merchants read events late, after an outage of their own. */
const EVENTS_DAYS_MIN = 30;
/** The tries of one event take three days, and a person looks into them after that. */
const DELIVERIES_DAYS_MIN = 7;

/** Reads how long rows stay that no money depends on. Throws ConfigError. */
export function readRetention(section: ConfigSection): RetentionConfig {
  const retention = readSection(section.fields["retention"] ?? {}, { path: "retention", known: RETENTION_KEYS });
  const { verificationsDays, transactionsDays, deliveriesDays } = RETENTION_DEFAULT;
  return {
    verificationsDays: readField(retention, "verificationsDays", {
      ...rules.wholeNumber(VERIFICATIONS_DAYS_MIN, DAYS_MAX),
      fallback: verificationsDays,
    }),
    transactionsDays: readField(retention, "transactionsDays", {
      ...rules.wholeNumber(TRANSACTIONS_DAYS_MIN, DAYS_MAX),
      fallback: transactionsDays,
    }),
    eventsDays: hasField(retention, "eventsDays")
      ? readField(retention, "eventsDays", rules.wholeNumber(EVENTS_DAYS_MIN, DAYS_MAX))
      : undefined,
    deliveriesDays: readField(retention, "deliveriesDays", {
      ...rules.wholeNumber(DELIVERIES_DAYS_MIN, DAYS_MAX),
      fallback: deliveriesDays,
    }),
  };
}
