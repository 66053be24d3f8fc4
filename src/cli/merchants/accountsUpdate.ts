import { CHAIN_NAME_FORMS } from "../../config/chainName.ts";
import type { AccountChangeOutput } from "../../operator/accountOperations.ts";
import { UsageError } from "../../operator/errors.ts";
import { formatFields, toJson } from "../../operator/process/terminal.ts";
import { operatorCommand } from "../operatorCommand.ts";
import { formatWarnings, toAccountFields } from "./accounts.ts";
import { changeText } from "./payoutChanges.ts";

const FIELDS = {
  name: { value: "NAME", summary: "the merchant's name" },
  chain: { value: "CHAIN", summary: `payout chain: ${CHAIN_NAME_FORMS}` },
  wallet: { value: "ADDRESS", summary: "payout wallet of new intents" },
  currency: { value: "SYMBOL", summary: "payout token of new intents" },
  "fee-bps": { value: "BPS", summary: "platform fee in hundredths of a percent, 0 to 1000" },
  "underpay-tolerance-bps": { value: "BPS", summary: "accepted shortfall in hundredths of a percent, 0 to 500" },
  recovery: { value: "ADDRESS", summary: 'address that may recover tokens sent by mistake; "none": the payout wallet' },
  "solana-recovery": { value: "ADDRESS", summary: 'the same for payouts on Solana; "none": the payout wallet' },
  "evm-chain": { value: "CHAIN", summary: "chain of the default destination of keys that are bound to EVM chains" },
  "evm-wallet": { value: "ADDRESS", summary: 'wallet of that destination; "none" alone removes it' },
  "solana-chain": { value: "CHAIN", summary: "chain of the default destination of keys that are bound to Solana" },
  "solana-wallet": { value: "ADDRESS", summary: 'wallet of that destination; "none" alone removes it' },
  "notify-url": {
    value: "URL",
    summary: 'where the merchant is told that a webhook endpoint fails; "none" ends it',
  },
  limits: {
    value: "TIMES",
    summary: "raise all rate limits of the account to so many times the usual ones, 1 to 50",
  },
  origins: { value: "LIST", summary: 'origins of its intents, such as base:usdc,optimism:usdc; "none": all' },
} as const;

function toNotificationFields(notification: AccountChangeOutput["notification"]): [string, string][] {
  if (notification === undefined) return [];
  if (notification === null) return [["notices", "none"]];
  return [
    ["notices", notification.url],
    ["signed with", `${notification.secret} (shown once)`],
  ];
}

export const accountsUpdate = operatorCommand({
  operation: "accounts update",
  summary: "change an account; existing intents keep what they pinned",
  help: "Change an account; existing intents keep what they pinned",
  positionals: [{ name: "accountId", summary: "account id (acct_…)" }],
  options: FIELDS,
  examples: [
    "tributary accounts update acct_3x7… --fee-bps 30",
    "tributary accounts update acct_3x7… --origins base:usdc,optimism:usdc",
    "tributary accounts update acct_3x7… --limits 5",
    "tributary accounts update acct_3x7… --notify-url https://shop.example/alerts",
  ],
  prepare(fields, { values }) {
    if (Object.keys(FIELDS).some((option) => values[option] !== undefined)) return fields;
    const options = Object.keys(FIELDS).map((option) => `--${option}`);
    throw new UsageError(`Name what to change: ${options.join(", ")}.`);
  },
  json: ({ payoutBefore: _before, ...account }) => account,
  print: (account, { terminal }) =>
    formatFields(terminal, [...toAccountFields(account), ...toNotificationFields(account.notification)]),
  note: ({ payoutBefore: before, ...account }, { asJson, terminal }) => {
    const { payout, proposal } = account;
    const warnings = asJson ? [] : formatWarnings(account, terminal);
    if (proposal !== undefined) {
      const waits = `${changeText(proposal)}: takes effect at ${proposal.dueAt ?? ""} unless a member of the account stops it. Until then new intents keep the present payout. tributary accounts stop-change ${account.accountId} ${proposal.payoutChangeId}`;
      return [...warnings, ...formatWarnings({ warnings: [waits] }, terminal)];
    }
    if (toJson(before) === toJson(payout)) return warnings;
    const warning = `new intents of this account are paid to ${payout?.wallet ?? "none"} on ${payout?.chain ?? "none"}, before to ${before?.wallet ?? "none"}. Existing intents keep their payout. The account's events record the change.`;
    return [...warnings, ...formatWarnings({ warnings: [warning] }, terminal)];
  },
});
