// Every alarm: a condition that a person must act on. docs/operate/alarms.md is generated from this table by
// scripts/alarms.ts.

import type { AlarmRow } from "./alarmRow.ts";

export const ALARMS = {
  gas_low: {
    happened: "The gas account cannot pay the next 50 settlements at the present gas price.",
    affects: "Nobody yet. When it is empty, payouts of this chain wait.",
    remedy: "Send the chain's native coin to the gas account. `tributary doctor` shows its address and balance.",
    source: "checks",
  },
  gas_empty: {
    happened: "The gas account cannot pay one settlement at the present gas price.",
    affects: "Merchants paid on this chain: deposits count, but payouts wait.",
    remedy: "Send the chain's native coin to the gas account. `tributary doctor` shows its address and balance.",
    source: "checks",
  },
  gas_price_above_ceiling: {
    happened: "The gas price exceeds `maxFeePerGasGwei`; on Solana, the priority fee exceeds `computeUnitPriceMax`.",
    affects:
      "Merchants paid on this chain: payouts wait until the price falls; on Solana they offer the ceiling and may land late.",
    remedy: "Wait, or raise that ceiling and restart. `tributary doctor` shows the price.",
    source: "both",
  },
  chain_silent: {
    happened: "No provider of the chain answers.",
    affects: "Payers and merchants of this chain: deposits are not seen and payouts wait.",
    remedy: "Check the provider's status page, or add a URL to `rpcUrls`. `tributary watch status` shows each error.",
    source: "checks",
  },
  chain_stalled: {
    happened: "The chain has had no new block for at least 20 seconds and four times its usual block time.",
    affects: "Payers and merchants of this chain: nothing is seen or settled until it goes on.",
    remedy: "Compare with a block explorer. If the chain goes on there, replace the provider. `tributary watch status`",
    source: "checks",
  },
  block_time_differs: {
    happened: "The chain's measured block time and `estimates.blockMs` differ by more than two times.",
    affects:
      "Payers: what they are told about times is wrong, and a finality rule in `confirmations` protects for another time.",
    remedy: "Set `estimates.blockMs` to the measured one, use `seconds` in `finality`, and restart. `tributary doctor`",
    source: "checks",
  },
  network_differs: {
    happened: "A public network differs from its entry in the catalogue of this release.",
    affects:
      "Payers and merchants of this chain, if what differs is the token, the hub, the bridge or the price of storage.",
    remedy:
      "Read `reason`, and compare with `tributary doctor --network <slug>`. Upgrade if the network changed, else check what answers at `rpcUrls`.",
    source: "checks",
  },
  chain_not_scanned: {
    happened: "No process has scanned the chain recently.",
    affects: "Payers and merchants of this chain: deposits are not seen.",
    remedy: "Read the warnings of the loop `watch` in the log, and start a process. `tributary doctor`",
    source: "checks",
  },
  scan_behind: {
    happened: "The scanner is more than two minutes behind the chain.",
    affects: "Payers and merchants of this chain: deposits are seen late.",
    remedy: "Wait when it catches up, else use a faster provider. `tributary watch status --follow`",
    source: "checks",
  },
  provider_down: {
    happened: "A provider does not answer, while another one of its chain does.",
    affects: "Nobody while enough providers answer. If they must agree, deposits and payouts may wait.",
    remedy: "Check the provider, or replace its URL in `rpcUrls`. `tributary watch status`",
    source: "checks",
  },
  provider_behind: {
    happened: "A provider's newest block is much older than that of another one.",
    affects: "Nobody while enough providers answer. If they must agree, deposits and payouts may wait.",
    remedy: "Check the provider, or replace its URL in `rpcUrls`. `tributary watch status`",
    source: "checks",
  },
  settlements_late: {
    happened: "Counted money has waited for its payout for 15 minutes longer than configured.",
    affects: "The merchants of these payouts. The money is safe in its inboxes.",
    remedy: "Read the other alarms of the chain first. `tributary doctor` names what is stuck.",
    source: "checks",
  },
  settlement_held: {
    happened: "The chain refuses to settle an inbox, or a bridge to take its balance.",
    affects: "The merchant of the intent: its payout waits and is retried.",
    remedy:
      "`tributary intents show <intentId>` shows the reason. The token may block the payout wallet, or the bridge the amount.",
    source: "checks",
  },
  token_changed: {
    happened:
      "The issuer of a token changed it since the start: its extensions, its authorities, or what stands at its address.",
    affects:
      "Payers of this token get no new addresses. With `holdsSettlements`, its payouts wait, because they might not arrive in full.",
    remedy:
      "Read `reason` and ask the issuer. Both go on when the token is as configured again. To accept an extension, name it in `acceptedExtensions`; to accept authorities, restart.",
    source: "checks",
  },
  crossing_late: {
    happened: "The bridge's service has not signed a burn for an hour and three times the finality time of its chain.",
    affects: "The merchants of these payouts. The money is between two chains, and only its issuer can go on.",
    remedy:
      "Read `reason`: it is the service's own. Compare with its status page. `tributary doctor` shows whether it answers. With `proof_of_another_burn`, check what answers at `bridge.attestationUrl`.",
    source: "checks",
  },
  crossing_not_received: {
    happened: "A signed burn has not landed on its settle chain for 15 minutes.",
    affects: "The merchants of these payouts. The money arrives as soon as the chain accepts it.",
    remedy:
      "Read `reason`, and the other alarms of the settle chain. `tributary doctor` shows its gas account and gas price. With `receive_refused`, check what answers at `bridge.attestationUrl`.",
    source: "checks",
  },
  crossing_postponed: {
    happened: "A crossing has not landed for a day. Those below the minimum are not meant.",
    affects: "The merchants of these payouts. The money is between two chains, and no attempt has moved it.",
    remedy:
      "Read `reason`. Waiting does not help after a day: with `worth_less_than_its_mint` raise `crossingMinimumUnits` or correct `native.usd`; with `proof_…` or `not_seen_by_bridge` ask at `bridge.attestationUrl` for the burn's transaction; else `tributary intents show <intentId>` and the other alarms of the settle chain.",
    source: "checks",
  },
  sweep_not_shown: {
    happened: "A transaction that settles is closed for an hour, and no chain shows what it moved.",
    affects: "The merchants of these payouts: they stay `submitted`, and no amount of them counts as settled.",
    remedy:
      "Look at the transaction in a block explorer. If it moved the money, the providers of the chain hide it or disagree about it: replace them, then `tributary rescan`. `tributary doctor` names the settlement.",
    source: "checks",
  },
  bridge_refuses_payer: {
    happened: "The bridge refuses burns of this service's gas account, and would take them from others.",
    affects: "Merchants paid from this chain on another one: the money waits in its inboxes. No payout is held for it.",
    remedy:
      "The issuer has the account on its denylist: give the chain another key in `gasKeyEnv`, or ask the issuer. `tributary doctor` shows the account.",
    source: "checks",
  },
  burn_unknown: {
    happened: "A bridge gave an inbox money for a burn that no provider has reported for ten minutes.",
    affects: "The merchant and the payer of the intent: the payment on the burn's chain is not counted.",
    remedy:
      "The providers of the burn's chain hide a payment and its burn, or are away: replace them. After an hour what arrived is settled from suspense. The inbox is searched every hour. `tributary rescan` searches at once.",
    source: "checks",
  },
  bridge_unavailable: {
    happened: "The bridge's service has not answered, or has refused requests, for ten minutes.",
    affects: "Merchants paid from another chain: burns wait. New burns take the standard route when no fee is known.",
    remedy: "Check the service at `bridge.attestationUrl` from this machine. `tributary doctor` shows its answer.",
    source: "checks",
  },
  bridge_fee_near_cap: {
    happened: "The bridge's fee has reached two thirds of the cap that inboxes pin.",
    affects: "Nobody yet. Above the cap the route closes: above both caps of a pair, deposits wait on their chain.",
    remedy:
      "Update to a release with higher caps for new intents, or stop the origin: `tributary origins disable <origin>`.",
    source: "checks",
  },
  deposits_late: {
    happened: "A deposit has been neither counted nor held for two hours.",
    affects: "The payer and the merchant of the intent.",
    remedy: "`tributary watch status` shows whether the chain's finality advances; then `tributary rescan <intentId>`.",
    source: "checks",
  },
  customers_unbound: {
    happened: "Intents have waited for the issuing gate for five minutes.",
    affects: "Payers of these intents: they get no source inbox.",
    remedy: "Check the gate at `gate.url`. Intents continue when it answers.",
    source: "checks",
  },
  key_expires: {
    happened: "An API key in use expires within seven days, and its account has no later one.",
    affects: "The merchant: its requests get `key_expired` from then on.",
    remedy: "`tributary keys rotate <keyId>`, and give the merchant the new key.",
    source: "checks",
  },
  payout_change_waits: {
    happened: "The place where an account's new payments are paid out is about to change.",
    affects: "The merchant, if he did not want it: any member can stop it in the dashboard.",
    remedy:
      "Ask the merchant when the operator did not propose it. `tributary accounts stop-change <accountId> <changeId>`",
    source: "checks",
  },
  disk_low: {
    happened: "The disk of this process has less than 2 GiB free.",
    affects: "Everybody, when it is full: an embedded database then stops.",
    remedy: "Free space or enlarge the disk. `df -h`",
    source: "checks",
  },
  clock_differs: {
    happened: "The machine's clock, the database's clock or a chain's clock differ by more than they may.",
    affects: "Everybody: expiry, retries and signatures use the wrong time.",
    remedy: "Correct the time synchronization of both machines. `timedatectl`",
    source: "checks",
  },
  database_unavailable: {
    happened: "The database does not answer.",
    affects: "Everybody: requests fail and no payment is recorded. Chains are read again afterwards.",
    remedy: "Start the database. `/readyz` answers 503 until then.",
    source: "checks",
  },
  database_rewound: {
    happened: "Within the last day the database lost commits, was restored, or another server took its place.",
    affects:
      "Merchants, if commits were lost: what they were answered last may be gone. Their feeds continue after a gap of 1,000,000. Payments are read from the chains again.",
    remedy:
      "Read `reason` and docs/operate/restore.md. Nothing is to be done after a switch that lost nothing; else the restored state lacks what merchants created last, and their payments.",
    source: "checks",
  },
  webhook_failing: {
    happened: "Webhook endpoints have answered nothing but failures for two and a half days.",
    affects: "Their merchants: events reach them by the feed only. After five days an endpoint is tried once a day.",
    remedy:
      "Tell the merchant. `tributary webhooks deliveries` shows the answers; what was missed follows once the endpoint answers.",
    source: "checks",
  },
  hints_silent: {
    happened: "A provider whose webhooks said where to look has sent none for an hour.",
    affects: "Payers of this chain: their deposits are found as soon as without it, which is later on some chains.",
    remedy:
      "Look at the stream in the provider's dashboard: after failed deliveries some stop it. `tributary origins list` shows when it last spoke.",
    source: "checks",
  },
  feed_behind: {
    happened: "For two minutes, events have had no number, or endpoints that are due have had no turn.",
    affects: "All merchants: the feed and the webhooks are late. Nothing is lost.",
    remedy:
      "Look for errors of the loops `events`, `webhook events` and `webhooks` in the log, and for a database under load. More processes with `serve --role deliver` share the work.",
    source: "checks",
  },
  role_missing: {
    happened: "No process has one of the roles, while others run.",
    affects:
      "Everybody: without `api` requests fail, without `watch` payments are not seen, without `settle` payouts wait, without `deliver` webhooks wait.",
    remedy: "Start a process with `serve --role`, or without that option. `tributary doctor` shows which roles run.",
    source: "checks",
  },
  check_failed: {
    happened: "A check of the alarms fails, so its alarms stay as they were last found.",
    affects: "Nobody yet, but new conditions of this check are not found.",
    remedy: "Read `reason` and the log; `tributary doctor` runs most checks once. Report the reason when it stays.",
    source: "checks",
  },
  provider_agreement_pending: {
    happened: "Too few providers confirm a deposit.",
    affects: "The payer and the merchant of the deposit: it waits.",
    remedy: "Get more providers to answer. `tributary watch status`",
    source: "both",
  },
  provider_disagreement: {
    happened: "A provider denies a deposit or a balance that another one reports.",
    affects: "The payer and the merchant of the deposit: it waits.",
    remedy: "Find the provider that is wrong and remove it. `tributary doctor`",
    source: "both",
  },
  provider_contradicted: {
    happened: "A provider denies a deposit that the others confirm.",
    affects: "Nobody: the deposit counts.",
    remedy: "Watch this provider, and remove it if it happens again. `tributary watch status`",
    source: "code",
  },
  sweep_unconfirmed: {
    happened: "A settlement waits, because too few providers show the transfer out of its inbox, or one denies it.",
    affects: "The merchant of the intent: the settlement shows as landed later. The money is where the chain has it.",
    remedy:
      "Read `answers`: get the failing providers to answer, and replace the one that differs. It lands by itself as soon as enough agree. `tributary watch status`",
    source: "code",
  },
  sweep_denied: {
    happened: "A provider showed a transfer out of an inbox that the others deny. It was taken back.",
    affects: "Nobody: no settlement landed with it, or it was taken back with its event.",
    remedy: "Replace the provider that `answers` names as confirming it. `tributary doctor --ledger`",
    source: "code",
  },
  provider_inconsistent: {
    happened: "A provider's answers contradict each other and are not recorded.",
    affects: "Nobody while another provider answers.",
    remedy: "Replace the provider. `tributary watch status`",
    source: "code",
  },
  providers_differ: {
    happened: "The providers report different chains, without a majority.",
    affects: "Payers and merchants of this chain: deposits may wait.",
    remedy: "Compare with a block explorer, and remove the wrong provider. `tributary watch status`",
    source: "code",
  },
  reorg_refused: {
    happened: "A provider reports a deep reorganization that the other providers do not have.",
    affects: "Nobody: its report is ignored.",
    remedy: "Watch this provider, and remove it if it happens again. `tributary watch status`",
    source: "code",
  },
  chain_taken_back: {
    happened: "Most providers report another chain, and recorded blocks were undone.",
    affects: "Merchants with deposits in these blocks: they are dropped until they are mined again.",
    remedy: "Compare with a block explorer, then run `tributary doctor --ledger`.",
    source: "code",
  },
  final_contradicted: {
    happened: "A provider contradicts final movements. They stay unchanged.",
    affects: "The merchants of these movements, if the chain has really replaced final blocks.",
    remedy: "Compare the transactions with a block explorer, then run `tributary doctor --ledger`.",
    source: "code",
  },
  transfer_omitted: {
    happened: "A provider left out a transfer each time its block was read. The balance of the inbox showed it.",
    affects: "Nobody: the transfer is recorded.",
    remedy: "Replace the provider. `tributary watch status`",
    source: "code",
  },
  balance_differs: {
    happened: "The balance of an inbox differs from the ledger.",
    affects: "The merchant of the inbox: a transfer may be missing or recorded wrongly.",
    remedy: "`tributary doctor --ledger`, then `tributary rescan <intentId>`.",
    source: "both",
  },
  unreadable_rows: {
    happened:
      "A chain holds transactions that name an inbox or the program, and that no reader of this release can parse.",
    affects:
      "The merchants of the named inboxes, if the transactions paid them: such a payment is not seen until it can be read.",
    remedy:
      "Upgrade the service and its nodes. `tributary doctor` counts the rows; each is tried again, at least once a day.",
    source: "checks",
  },
  dust_waits: {
    happened:
      "Transactions with nothing but transfers below the minimum wait for more than an hour to be recorded. They should wait for seconds.",
    affects:
      "Merchants whose inboxes they paid: their small deposits are not seen. Final blocks above them are not read a second time.",
    remedy:
      "`tributary watch status` shows what the providers answer; `tributary rescan <transaction>` reads one of the table `postponed` at once.",
    source: "checks",
  },
  deposit_counted_early: {
    happened: "A deposit counted before it was final by the rule of its chain, or by a rule for a smaller sum.",
    affects:
      "The merchant of the deposit: a reorganisation may take back what is reported as paid. It is a fault of this release.",
    remedy:
      "`tributary doctor --ledger` shows the deposits. Deliver nothing for them before their chain's last rule is met, and report it.",
    source: "code",
  },
  balance_below_counted: {
    happened: "Every provider that answers reports less in an inbox than was counted.",
    affects: "The merchant of the inbox: its payout waits.",
    remedy: "`tributary rescan <intentId>`, then `tributary doctor --ledger`.",
    source: "code",
  },
  sweep_left_money: {
    happened:
      "A settlement or a stranger's sweep left money in its inbox. What is counted of it is planned again at once.",
    affects: "The merchant of the intent: this part of the payout comes later.",
    remedy:
      "Nothing if it lands: a recovery key may have taken a part, or a provider omitted a transfer. Else `tributary rescan <intentId>`, then `tributary doctor --ledger`.",
    source: "code",
  },
  intent_quarantined: {
    happened: "The movements of an intent could not be processed. They are retried.",
    affects: "The merchant of the intent: its deposits wait. Others continue.",
    remedy: "Read the error in the log line, and report it. `tributary intents show <intentId>`",
    source: "both",
  },
  intent_failed: {
    happened: "Counting, summing, verifying or planning failed for one intent. It is retried.",
    affects: "The merchant of the intent. Others continue.",
    remedy: "Read the error in the log line, and report it. `tributary intents show <intentId>`",
    source: "code",
  },
  settlement_fails: {
    happened: "A settlement cannot be submitted because of its rows. It is retried.",
    affects: "The merchant of the settlement: its payout waits.",
    remedy: "Read the error in the log line, and report it. `tributary doctor --ledger`",
    source: "code",
  },
  settlement_not_replanned: {
    happened: "A settlement that moved nothing cannot be planned again because of its rows. It is retried.",
    affects: "The merchant of the settlement: its payout waits.",
    remedy: "Read the error in the log line, and report it. `tributary doctor --ledger`",
    source: "code",
  },
  nonce_gap: {
    happened: "Too many nonces of the gas account are missing below the waiting transactions.",
    affects: "Merchants paid on this chain: payouts wait until the nonces are used.",
    remedy: "Find who else uses the gas key. Give the service a key of its own, and restart. `tributary doctor`",
    source: "code",
  },
  sending_given_up: {
    happened: "No node accepts a transaction, and an empty one takes its nonce.",
    affects: "The merchants of its settlements: they are planned again.",
    remedy: "Read `outcome` in the log line. `tributary doctor` shows gas and fees.",
    source: "code",
  },
  gate_issued_wrong_address: {
    happened: "The issuing gate issued a forbidden address. It was not stored.",
    affects: "The payer of the intent: no source inbox on this chain.",
    remedy: "Stop the gate and find out why. `tributary origins disable <origin>` stops issuing meanwhile.",
    source: "code",
  },
} as const satisfies Record<string, AlarmRow>;

export type AlarmName = keyof typeof ALARMS;

export function alarmRow(name: AlarmName): AlarmRow {
  return ALARMS[name];
}
