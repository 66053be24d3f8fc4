import { CHAIN_NAME_FORMS } from "../../config/chainName.ts";
import type { Command, CommandInput } from "../command.ts";
import { PAGE_OPTIONS, printPage, readPageOptions } from "../listPage.ts";
import { callOnce, CONFIG_OPTION } from "../operatorClient.ts";
import type { AccountOutput } from "../../operator/accountOperations.ts";
import { formatFields, formatTable, toJson, type Terminal } from "../../operator/process/terminal.ts";

export const accountsCreate: Command = {
  name: "accounts create",
  summary: "Create a merchant account with the default destination of its intents",
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
      summary: "address that may recover tokens sent by mistake; default the payout wallet",
    },
    "solana-recovery": { value: "ADDRESS", summary: "the same for payouts on Solana" },
    ...CONFIG_OPTION,
  },
  examples: ['tributary accounts create "Harbor Books" --chain dev-one --wallet 0x… --fee-bps 50'],
  run: runCreate,
};

export const accountsList: Command = {
  name: "accounts list",
  summary: "List the merchant accounts, oldest first",
  positionals: [],
  options: { ...PAGE_OPTIONS, ...CONFIG_OPTION },
  examples: ["tributary accounts list"],
  run: runList,
};

const ACCOUNT = { name: "accountId", summary: "account id (acct_…)" } as const;

export const accountsShow: Command = {
  name: "accounts show",
  summary: "Show every field of a merchant account",
  positionals: [ACCOUNT],
  options: CONFIG_OPTION,
  examples: ["tributary accounts show acct_3x7…"],
  run: runShow,
};

export const accountsSuspend: Command = {
  name: "accounts suspend",
  summary: "Reject every key of an account, in all processes within a second; payments still settle",
  positionals: [ACCOUNT],
  options: CONFIG_OPTION,
  examples: ["tributary accounts suspend acct_3x7…"],
  run: (input) => runSetStatus(input, "accounts suspend"),
};

export const accountsResume: Command = {
  name: "accounts resume",
  summary: "Accept the keys of a suspended account again",
  positionals: [ACCOUNT],
  options: CONFIG_OPTION,
  examples: ["tributary accounts resume acct_3x7…"],
  run: (input) => runSetStatus(input, "accounts resume"),
};

async function runSetStatus(input: CommandInput, operation: "accounts suspend" | "accounts resume"): Promise<number> {
  const { positionals, terminal, asJson } = input;
  const account = await callOnce(input, operation, { accountId: positionals[0] });
  terminal.out(asJson ? toJson(account) : `${account.accountId} (${account.name}) is ${account.status}.`);
  return 0;
}

async function runCreate(input: CommandInput): Promise<number> {
  const { values, positionals, terminal, asJson } = input;
  const account = await callOnce(input, "accounts create", {
    name: positionals[0],
    chain: values["chain"],
    wallet: values["wallet"],
    currency: values["currency"],
    feeBps: values["fee-bps"],
    underpayToleranceBps: values["underpay-tolerance-bps"],
    recovery: values["recovery"],
    solanaRecovery: values["solana-recovery"],
  });
  if (asJson) terminal.out(toJson(account));
  else {
    for (const line of formatFields(terminal, toAccountFields(account))) terminal.out(line);
    noteWarnings(account, terminal);
    const config = values["config"] === undefined ? "" : ` --config ${shellQuote(values["config"])}`;
    terminal.note(`Next: tributary keys create ${account.accountId}${config}`);
  }
  return 0;
}

export function noteWarnings({ warnings }: { warnings: readonly string[] }, terminal: Terminal): void {
  for (const warning of warnings) terminal.note(`${terminal.paint("yellow", "warning:")} ${warning}`);
}

/** Quotes one argument for a POSIX shell. */
function shellQuote(word: string): string {
  return /^[\w./:@=+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

async function runList(input: CommandInput): Promise<number> {
  const page = await callOnce(input, "accounts list", readPageOptions(input));
  printPage(input, page, (accounts) => {
    const rows = accounts.map(({ accountId, name, status, payout, feeBps }) => [
      accountId,
      name,
      status,
      payout === null ? "" : `${payout.currency ?? ""} on ${payout.chain}`,
      payout?.wallet ?? "",
      `${feeBps} bps`,
    ]);
    return formatTable(input.terminal, ["account", "name", "status", "paid in", "wallet", "fee"], rows);
  });
  return 0;
}

async function runShow(input: CommandInput): Promise<number> {
  const { positionals, terminal, asJson } = input;
  const account = await callOnce(input, "accounts show", { accountId: positionals[0] });
  if (asJson) terminal.out(toJson(account));
  else for (const line of formatFields(terminal, toAccountFields(account))) terminal.out(line);
  return 0;
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
    ["created", account.createdAt],
  ];
}

/** The defaults of bound keys, where there are any. */
function otherPayouts({ evmPayout, solanaPayout }: AccountOutput): [string, string][] {
  return [evmPayout, solanaPayout].flatMap((other): [string, string][] =>
    other === null ? [] : [["other payout", `on ${other.chain} to ${other.wallet}`]],
  );
}
