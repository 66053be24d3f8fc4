import { CHAIN_NAMES } from "./chainName.ts";
import type { Command, CommandInput } from "./command.ts";
import { askOnce, CONFIG_OPTION } from "./operator.ts";
import type { ShownAccount } from "./operations/accounts.ts";
import { listing, table, toJson } from "./terminal.ts";

export const accountsCreate: Command = {
  name: "accounts create",
  summary: "Create a merchant account, with the destination that its intents have unless they say otherwise",
  positionals: [{ name: "name", summary: "what the merchant is called" }],
  options: {
    chain: { value: "CHAIN", summary: `where the merchant is paid: ${CHAIN_NAMES}` },
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
  run: (input) => runStatus(input, "accounts suspend"),
};

export const accountsResume: Command = {
  name: "accounts resume",
  summary: "Let a suspended account go on",
  positionals: [ACCOUNT],
  options: CONFIG_OPTION,
  examples: ["tributary accounts resume acct_3x7…"],
  run: (input) => runStatus(input, "accounts resume"),
};

async function runStatus(input: CommandInput, operation: string): Promise<number> {
  const { positionals, terminal, asJson } = input;
  const account = (await askOnce(input, operation, { accountId: positionals[0] })) as ShownAccount;
  terminal.out(asJson ? toJson(account) : `${account.accountId} (${account.name}) is ${account.status}.`);
  return 0;
}

async function runCreate(input: CommandInput): Promise<number> {
  const { text, positionals, terminal, asJson } = input;
  const account = (await askOnce(input, "accounts create", {
    name: positionals[0],
    chain: text["chain"],
    wallet: text["wallet"],
    currency: text["currency"],
    feeBps: text["fee-bps"],
    underpayToleranceBps: text["underpay-tolerance-bps"],
    recovery: text["recovery"],
  })) as ShownAccount;
  if (asJson) terminal.out(toJson(account));
  else {
    for (const line of listing(terminal, entriesOf(account))) terminal.out(line);
    const config = text["config"] === undefined ? "" : ` --config ${quoted(text["config"])}`;
    terminal.note(`Next: tributary keys create ${account.accountId}${config}`);
  }
  return 0;
}

/** As one word of a shell. */
function quoted(word: string): string {
  return /^[\w./:@=+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

async function runList(input: CommandInput): Promise<number> {
  const { terminal, asJson } = input;
  const accounts = (await askOnce(input, "accounts list", {})) as ShownAccount[];
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
    for (const line of table(terminal, ["account", "name", "status", "paid in", "wallet", "fee"], rows))
      terminal.out(line);
  }
  return 0;
}

function entriesOf(account: ShownAccount): [string, string][] {
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
