import { CHAIN_NAME_FORMS } from "../../config/chainName.ts";
import type { Command, CommandInput } from "../command.ts";
import { callOnce, CONFIG_OPTION } from "../operatorClient.ts";
import type { AccountOutput } from "../../operator/accountOperations.ts";
import { formatFields, formatTable, toJson } from "../../operator/process/terminal.ts";

export const accountsCreate: Command = {
  name: "accounts create",
  summary: "Create a merchant account, with the destination that its intents have unless they say otherwise",
  positionals: [{ name: "name", summary: "what the merchant is called" }],
  options: {
    chain: { value: "CHAIN", summary: `where the merchant is paid: ${CHAIN_NAME_FORMS}` },
    wallet: { value: "ADDRESS", summary: "the wallet that is paid there" },
    currency: { value: "SYMBOL", summary: "in which token; the chain's default when left out" },
    "fee-bps": { value: "BPS", summary: "platform fee in hundredths of a percent, 0 to 1000" },
    "underpay-tolerance-bps": { value: "BPS", summary: "how much less than the price still pays it, 0 to 500" },
    recovery: { value: "ADDRESS", summary: "who may rescue what was sent by mistake; the payout wallet when left out" },
    ...CONFIG_OPTION,
  },
  examples: ['tributary accounts create "Harbor Books" --chain dev-one --wallet 0x… --fee-bps 50'],
  run: runCreate,
};

export const accountsList: Command = {
  name: "accounts list",
  summary: "List the merchant accounts",
  positionals: [],
  options: CONFIG_OPTION,
  examples: ["tributary accounts list"],
  run: runList,
};

const ACCOUNT = { name: "accountId", summary: "the account, acct_…" } as const;

export const accountsSuspend: Command = {
  name: "accounts suspend",
  summary: "Refuse every key of an account, within a second everywhere; payments on their way are settled as ever",
  positionals: [ACCOUNT],
  options: CONFIG_OPTION,
  examples: ["tributary accounts suspend acct_3x7…"],
  run: (input) => runSetStatus(input, "accounts suspend"),
};

export const accountsResume: Command = {
  name: "accounts resume",
  summary: "Let a suspended account go on",
  positionals: [ACCOUNT],
  options: CONFIG_OPTION,
  examples: ["tributary accounts resume acct_3x7…"],
  run: (input) => runSetStatus(input, "accounts resume"),
};

async function runSetStatus(input: CommandInput, operation: string): Promise<number> {
  const { positionals, terminal, asJson } = input;
  const account = (await callOnce(input, operation, { accountId: positionals[0] })) as AccountOutput;
  terminal.out(asJson ? toJson(account) : `${account.accountId} (${account.name}) is ${account.status}.`);
  return 0;
}

async function runCreate(input: CommandInput): Promise<number> {
  const { values, positionals, terminal, asJson } = input;
  const account = (await callOnce(input, "accounts create", {
    name: positionals[0],
    chain: values["chain"],
    wallet: values["wallet"],
    currency: values["currency"],
    feeBps: values["fee-bps"],
    underpayToleranceBps: values["underpay-tolerance-bps"],
    recovery: values["recovery"],
  })) as AccountOutput;
  if (asJson) terminal.out(toJson(account));
  else {
    for (const line of formatFields(terminal, toAccountFields(account))) terminal.out(line);
    const config = values["config"] === undefined ? "" : ` --config ${shellQuote(values["config"])}`;
    terminal.note(`Next: tributary keys create ${account.accountId}${config}`);
  }
  return 0;
}

/** As one word of a shell. */
function shellQuote(word: string): string {
  return /^[\w./:@=+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

async function runList(input: CommandInput): Promise<number> {
  const { terminal, asJson } = input;
  const accounts = (await callOnce(input, "accounts list", {})) as AccountOutput[];
  if (asJson) terminal.out(toJson(accounts));
  else {
    const rows = accounts.map(({ accountId, name, status, payout, feeBps }) => [
      accountId,
      name,
      status,
      payout === null ? "" : `${payout.currency ?? ""} on ${payout.chain}`,
      payout?.wallet ?? "",
      `${feeBps} bps`,
    ]);
    for (const line of formatTable(terminal, ["account", "name", "status", "paid in", "wallet", "fee"], rows))
      terminal.out(line);
  }
  return 0;
}

function toAccountFields(account: AccountOutput): [string, string][] {
  const { payout } = account;
  return [
    ["account", account.accountId],
    ["name", account.name],
    ["environment", account.environment],
    [
      "payout",
      payout === null
        ? "none: every intent names its own"
        : `${payout.currency ?? ""} on ${payout.chain} to ${payout.wallet ?? ""}`,
    ],
    ["fee", `${account.feeBps} bps`],
    ["tolerance", `${account.underpayToleranceBps} bps`],
    ["recovery", account.recovery ?? "the payout wallet"],
  ];
}
