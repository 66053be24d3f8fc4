import { CHAIN_NAME_FORMS } from "../../config/chainName.ts";
import { UsageError } from "../../operator/errors.ts";
import { formatFields, toJson } from "../../operator/process/terminal.ts";
import type { Command, CommandInput } from "../command.ts";
import { callOnce, CONFIG_OPTION } from "../operatorClient.ts";
import { noteWarnings, toAccountFields } from "./accounts.ts";

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
  origins: { value: "LIST", summary: 'origins of its intents, such as base:usdc,optimism:usdc; "none": all' },
} as const;

export const accountsUpdate: Command = {
  name: "accounts update",
  summary: "Change an account; existing intents keep what they pinned",
  positionals: [{ name: "accountId", summary: "account id (acct_…)" }],
  options: { ...FIELDS, ...CONFIG_OPTION },
  examples: [
    "tributary accounts update acct_3x7… --fee-bps 30",
    "tributary accounts update acct_3x7… --origins base:usdc,optimism:usdc",
  ],
  run: runUpdate,
};

async function runUpdate(input: CommandInput): Promise<number> {
  const { positionals, values, terminal, asJson } = input;
  if (!Object.keys(FIELDS).some((option) => values[option] !== undefined))
    throw new UsageError(
      `Name what to change: ${Object.keys(FIELDS)
        .map((option) => `--${option}`)
        .join(", ")}.`,
    );
  const account = await callOnce(input, "accounts change", {
    accountId: positionals[0],
    name: values["name"],
    chain: values["chain"],
    wallet: values["wallet"],
    currency: values["currency"],
    feeBps: values["fee-bps"],
    underpayToleranceBps: values["underpay-tolerance-bps"],
    recovery: values["recovery"],
    solanaRecovery: values["solana-recovery"],
    evmChain: values["evm-chain"],
    evmWallet: values["evm-wallet"],
    solanaChain: values["solana-chain"],
    solanaWallet: values["solana-wallet"],
    origins: values["origins"],
  });
  const { payoutBefore, ...shown } = account;
  if (asJson) terminal.out(toJson(shown));
  else {
    for (const line of formatFields(terminal, toAccountFields(shown))) terminal.out(line);
    noteWarnings(shown, terminal);
  }
  if (toJson(payoutBefore) !== toJson(shown.payout))
    terminal.note(
      `${terminal.paint("yellow", "warning:")} new intents of this account are paid to ${shown.payout?.wallet ?? "none"} on ${shown.payout?.chain ?? "none"}, before to ${payoutBefore?.wallet ?? "none"}. Existing intents keep their payout. The account's events record the change.`,
    );
  return 0;
}
