import type { Kysely } from "kysely";
import * as road from "./0001_road.ts";
import * as ledger from "./0002_ledger.ts";
import * as idempotency from "./0003_idempotency.ts";
import * as merchant from "./0004_merchant.ts";
import * as limits from "./0005_limits.ts";
import * as agreement from "./0006_agreement.ts";
import * as keyHash from "./0007_key_hash.ts";
import * as movementOfInbox from "./0008_movement_of_inbox.ts";
import * as intentOfAccount from "./0009_intent_of_account.ts";
import * as servedToken from "./0010_served_token.ts";
import * as inbox from "./0011_inbox.ts";
import * as chainKinds from "./0012_chain_kinds.ts";
import * as dust from "./0013_dust.ts";
import * as retention from "./0014_retention.ts";
import * as boundedReads from "./0015_bounded_reads.ts";
import * as balancePass from "./0016_balance_pass.ts";
import * as nettedFee from "./0017_netted_fee.ts";
import * as checkout from "./0018_checkout.ts";
import * as accountOrigins from "./0019_account_origins.ts";
import * as crossing from "./0020_crossing.ts";
import * as routeSet from "./0021_route_set.ts";
import * as bridging from "./0022_bridging.ts";
import * as intentFilters from "./0023_intent_filters.ts";
import * as fewerIndexes from "./0024_fewer_indexes.ts";
import * as expiringAttempts from "./0025_expiring_attempts.ts";
import * as payoutKinds from "./0026_payout_kinds.ts";
import * as settledPass from "./0027_settled_pass.ts";
import * as settlementOfBurn from "./0028_settlement_of_burn.ts";
import * as awaitedBurn from "./0029_awaited_burn.ts";
import * as primedAccount from "./0030_primed_account.ts";
import * as otherTokensPass from "./0031_other_tokens_pass.ts";
import * as burnRest from "./0032_burn_rest.ts";
import * as undecidedDeposits from "./0033_undecided_deposits.ts";
import * as unreadable from "./0035_unreadable.ts";
import * as finalityInSeconds from "./0037_finality_in_seconds.ts";
import * as crossingQueue from "./0039_crossing_queue.ts";
import * as suspense from "./0040_suspense.ts";
import * as depositIds from "./0041_deposit_ids.ts";
import * as sweepAgreement from "./0043_sweep_agreement.ts";
import * as askedAmount from "./0045_asked_amount.ts";

/** One migration. The database records its name. A released migration never changes. */
export type Migration = { readonly name: string; up(db: Kysely<unknown>): Promise<void> };

/** All migrations, in the order of their application. New ones go to the end. */
export const migrations: readonly Migration[] = [
  { name: "0001_road", up: road.up },
  { name: "0002_ledger", up: ledger.up },
  { name: "0003_idempotency", up: idempotency.up },
  { name: "0004_merchant", up: merchant.up },
  { name: "0005_limits", up: limits.up },
  { name: "0006_agreement", up: agreement.up },
  { name: "0007_key_hash", up: keyHash.up },
  { name: "0008_movement_of_inbox", up: movementOfInbox.up },
  { name: "0009_intent_of_account", up: intentOfAccount.up },
  { name: "0010_served_token", up: servedToken.up },
  { name: "0011_inbox", up: inbox.up },
  { name: "0012_chain_kinds", up: chainKinds.up },
  { name: "0013_dust", up: dust.up },
  { name: "0014_retention", up: retention.up },
  { name: "0015_bounded_reads", up: boundedReads.up },
  { name: "0016_balance_pass", up: balancePass.up },
  { name: "0017_netted_fee", up: nettedFee.up },
  { name: "0018_checkout", up: checkout.up },
  { name: "0019_account_origins", up: accountOrigins.up },
  { name: "0020_crossing", up: crossing.up },
  { name: "0021_route_set", up: routeSet.up },
  { name: "0022_bridging", up: bridging.up },
  { name: "0023_intent_filters", up: intentFilters.up },
  { name: "0024_fewer_indexes", up: fewerIndexes.up },
  { name: "0025_expiring_attempts", up: expiringAttempts.up },
  { name: "0026_payout_kinds", up: payoutKinds.up },
  { name: "0027_settled_pass", up: settledPass.up },
  { name: "0028_settlement_of_burn", up: settlementOfBurn.up },
  { name: "0029_awaited_burn", up: awaitedBurn.up },
  { name: "0030_primed_account", up: primedAccount.up },
  { name: "0031_other_tokens_pass", up: otherTokensPass.up },
  { name: "0032_burn_rest", up: burnRest.up },
  { name: "0033_undecided_deposits", up: undecidedDeposits.up },
  { name: "0035_unreadable", up: unreadable.up },
  { name: "0037_finality_in_seconds", up: finalityInSeconds.up },
  { name: "0039_crossing_queue", up: crossingQueue.up },
  { name: "0040_suspense", up: suspense.up },
  { name: "0041_deposit_ids", up: depositIds.up },
  { name: "0043_sweep_agreement", up: sweepAgreement.up },
  { name: "0045_asked_amount", up: askedAmount.up },
];
