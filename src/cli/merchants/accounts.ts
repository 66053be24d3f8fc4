import { CHAIN_NAME_FORMS } from "../../config/chainName.ts";
import type { AccountOutput } from "../../operator/accountOperations.ts";
import { formatFields, formatTable, type Terminal } from "../../operator/process/terminal.ts";
import { operatorCommand, operatorListCommand } from "../operatorCommand.ts";

export const accountsCreate = operatorCommand({
  operation: "accounts create",
  summary: "create a merchant account",
  help: "Create a merchant account with the default destination of its intents",
  positionals: [{ name: "name", summary: "the merchant's name" }],
  options: {
    chain: { value: "CHAIN", summary: `payout chain: ${CHAIN_NAME_FORMS}` },
    wallet: { value: "ADDRESS", summary: "payout wallet on that chain" },
    currency: { value: "SYMBOL", summary: "payout token; default the chain's default token" },
    "fee-bps": { value: "BPS", summary: "platform fee in hundredths of a percent, 0 to 1000" },
    "underpay-tolerance-bps": {
      value: "BPS",
      summary: "accepted shortfall in hundredths of a percent of the price, 0 to 500",
    },
    recovery: {
      value: "ADDRESS",
      summary: "EVM address that may recover tokens sent by mistake; default the payout wallet",
    },
    "solana-recovery": { value: "ADDRESS", summary: "the same for payouts on Solana" },
  },
  examples: ['tributary accounts create "Harbor Books" --chain dev-one --wallet 0x… --fee-bps 50'],
  print: (account, { terminal }) => formatFields(terminal, toAccountFields(account)),
  note: (account, { asJson, terminal, values }) => {
    if (asJson) return [];
    const config = values["config"] === undefined ? "" : ` --config ${shellQuote(values["config"])}`;
    return [...formatWarnings(account, terminal), `Next: tributary keys create ${account.accountId}${config}`];
  },
});

export const accountsList = operatorListCommand({
  operation: "accounts list",
  summary: "list the merchant accounts",
  help: "List the merchant accounts, oldest first",
  examples: ["tributary accounts list"],
  printRows: (accounts, { terminal }) => {
    const rows = accounts.map(({ accountId, name, status, payout, feeBps }) => [
      accountId,
      name,
      status,
      payout === null ? "" : `${payout.currency ?? ""} on ${payout.chain}`,
      payout?.wallet ?? "",
      `${feeBps} bps`,
    ]);
    return formatTable(terminal, ["account", "name", "status", "paid in", "wallet", "fee"], rows);
  },
});

const ACCOUNT = { name: "accountId", summary: "account id (acct_…)" } as const;

export const accountsShow = operatorCommand({
  operation: "accounts show",
  summary: "show one merchant account",
  help: "Show every field of a merchant account",
  positionals: [ACCOUNT],
  examples: ["tributary accounts show acct_3x7…"],
  print: (account, { terminal }) =>
    formatFields(terminal, [
      ...toAccountFields(account),
      ["last event", String(account.lastEventSequence)],
      ["webhooks", `${account.webhookEndpoints.enabled} enabled, ${account.webhookEndpoints.disabled} disabled`],
      ["notices", account.notifyUrl ?? "none"],
    ]),
});

export const accountsSuspend = operatorCommand({
  operation: "accounts suspend",
  summary: "reject all keys of an account",
  help: "Reject every key of an account, in all processes within a second; payments still settle",
  positionals: [ACCOUNT],
  examples: ["tributary accounts suspend acct_3x7…"],
  print: (account) => [`${account.accountId} (${account.name}) is ${account.status}.`],
});

export const accountsResume = operatorCommand({
  operation: "accounts resume",
  summary: "accept the keys of a suspended account again",
  help: "Accept the keys of a suspended account again",
  positionals: [ACCOUNT],
  examples: ["tributary accounts resume acct_3x7…"],
  print: (account) => [`${account.accountId} (${account.name}) is ${account.status}.`],
});

export function formatWarnings({ warnings }: { warnings: readonly string[] }, terminal: Terminal): string[] {
  return warnings.map((warning) => `${terminal.paint("yellow", "warning:")} ${warning}`);
}

/** Quotes one argument for a POSIX shell. */
function shellQuote(word: string): string {
  return /^[\w./:@=+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

export function toAccountFields(account: AccountOutput): [string, string][] {
  const { payout } = account;
  return [
    ["account", account.accountId],
    ["name", account.name],
    ["environment", account.environment],
    ["status", account.status],
    [
      "payout",
      payout === null
        ? "none: each intent must name its own"
        : `${payout.currency ?? ""} on ${payout.chain} to ${payout.wallet ?? ""}`,
    ],
    ...otherPayouts(account),
    ["fee", `${account.feeBps} bps`],
    ["tolerance", `${account.underpayToleranceBps} bps`],
    ["recovery", account.recovery ?? "the payout wallet"],
    ["on Solana", account.solanaRecovery ?? "the payout wallet"],
    ["origins", account.origins?.join(", ") ?? "all"],
    ["rate limits", account.limitMultiple === 1 ? "as everybody's" : `${account.limitMultiple} times as high`],
    ["created", account.createdAt],
  ];
}

/** The defaults of bound keys, where there are any. */
function otherPayouts({ evmPayout, solanaPayout }: AccountOutput): [string, string][] {
  return [evmPayout, solanaPayout].flatMap((other): [string, string][] =>
    other === null ? [] : [["other payout", `on ${other.chain} to ${other.wallet}`]],
  );
}
