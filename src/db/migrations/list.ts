import type { Kysely } from "kysely";
import * as chain from "./0101_chain.ts";
import * as event from "./0102_event.ts";
import * as idempotency from "./0103_idempotency.ts";
import * as ledger from "./0104_ledger.ts";
import * as catalog from "./0105_catalog.ts";
import * as merchant from "./0106_merchant.ts";
import * as intent from "./0107_intent.ts";
import * as priming from "./0108_priming.ts";
import * as inbox from "./0109_inbox.ts";
import * as view from "./0110_view.ts";
import * as watch from "./0111_watch.ts";
import * as deposit from "./0112_deposit.ts";
import * as bridge from "./0113_bridge.ts";
import * as settlement from "./0114_settlement.ts";
import * as webhook from "./0115_webhook.ts";
import * as health from "./0116_health.ts";
import * as http from "./0117_http.ts";
import * as lateDust from "./0201_late_dust.ts";
import * as limits from "./0205_limits.ts";
import * as evmHops from "./0210_evm_hops.ts";
import * as burnRent from "./0211_burn_rent.ts";
import * as providerHint from "./0211_provider_hint.ts";
import * as dashboard from "./0212_dashboard.ts";
import * as members from "./0240_members.ts";
import * as keyExpiry from "./0241_key_expiry.ts";
import * as narrowIndexes from "./0250_narrow_indexes.ts";
import * as dashboardDays from "./0255_dashboard_days.ts";
import * as unusedToken from "./0231_unused_token.ts";
import * as resized from "./0232_resized.ts";

/** One migration. The database records its name. A released migration never changes. */
export type Migration = { readonly name: string; up(db: Kysely<unknown>): Promise<void> };

/**
 * All migrations, in the order of their application: one baseline a station, and then every change. New ones go to the
 * end.
 */
export const migrations: readonly Migration[] = [
  { name: "0101_chain", up: chain.up },
  { name: "0102_event", up: event.up },
  { name: "0103_idempotency", up: idempotency.up },
  { name: "0104_ledger", up: ledger.up },
  { name: "0105_catalog", up: catalog.up },
  { name: "0106_merchant", up: merchant.up },
  { name: "0107_intent", up: intent.up },
  { name: "0108_priming", up: priming.up },
  { name: "0109_inbox", up: inbox.up },
  { name: "0110_view", up: view.up },
  { name: "0111_watch", up: watch.up },
  { name: "0112_deposit", up: deposit.up },
  { name: "0113_bridge", up: bridge.up },
  { name: "0114_settlement", up: settlement.up },
  { name: "0115_webhook", up: webhook.up },
  { name: "0116_health", up: health.up },
  { name: "0117_http", up: http.up },
  { name: "0201_late_dust", up: lateDust.up },
  { name: "0205_limits", up: limits.up },
  { name: "0210_evm_hops", up: evmHops.up },
  { name: "0211_burn_rent", up: burnRent.up },
  { name: "0211_provider_hint", up: providerHint.up },
  { name: "0212_dashboard", up: dashboard.up },
  { name: "0231_unused_token", up: unusedToken.up },
  { name: "0232_resized", up: resized.up },
  { name: "0240_members", up: members.up },
  { name: "0241_key_expiry", up: keyExpiry.up },
  { name: "0250_narrow_indexes", up: narrowIndexes.up },
  { name: "0255_dashboard_days", up: dashboardDays.up },
];
