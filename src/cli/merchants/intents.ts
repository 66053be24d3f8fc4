import type { DepositRecord } from "../../deposit/depositRecord.ts";
import { formatUnits } from "../../kernel/units.ts";
import type { IntentSnapshot } from "../../operator/intentOperations.ts";
import { formatFields, formatTable, toJson, type Terminal } from "../../operator/process/terminal.ts";
import type { SettlementRecord } from "../../settlement/change/settlementRecord.ts";
import type { Command, CommandInput } from "../command.ts";
import { CONFIG_OPTION, openOperatorClient } from "../operatorClient.ts";
import { operatorCommand, operatorListCommand } from "../operatorCommand.ts";

export const intentsList = operatorListCommand({
  operation: "intents list",
  summary: "list payment intents, newest first",
  help: "List payment intents of all accounts, newest first",
  options: {
    account: { value: "ID", summary: "only intents of this account" },
    status: { value: "STATUS", summary: "only intents in this status: active, settled or archived" },
  },
  examples: ["tributary intents list --status active --limit 5"],
  printRows: (intents, { terminal }) => {
    const rows = intents.map(({ intentId, accountId, status, paymentStatus, amounts, payout, merchantReference }) => [
      intentId,
      accountId,
      status,
      paymentStatus,
      `${formatAmount(amounts.countedUnits, payout.decimals)} of ${formatAmount(amounts.priceUnits, payout.decimals)} ${symbolOf(payout)}`,
      payout.railId,
      merchantReference ?? "",
    ]);
    return formatTable(terminal, ["intent", "account", "status", "payment", "counted", "rail", "reference"], rows);
  },
});

export const intentsShow = operatorCommand({
  operation: "intents show",
  summary: "show one payment intent with its deposits and settlements",
  help: "Show one payment intent with its deposits and settlements",
  positionals: [{ name: "intentId", summary: "intent id (pi_…)" }],
  examples: ["tributary intents show pi_3x7…"],
  print: (snapshot, { terminal }) => formatIntent(snapshot, terminal),
});

export const intentsArchive = operatorCommand({
  operation: "intents archive",
  summary: "archive a payment intent and free its destination",
  help: "Archive a payment intent: it frees its destination, and later deposits are still paid out",
  positionals: [{ name: "intentId", summary: "intent id (pi_…)" }],
  examples: ["tributary intents archive pi_3x7…"],
  print: ({ intentId, status }) => [`${intentId} is ${status}. Later deposits are still paid out.`],
});

export const intentsExport: Command = {
  name: "intents export",
  summary: "print the terms of all intents, for recovery without the service",
  help: "Print the terms of all intents as JSON lines: what `recover` needs without this service",
  positionals: [],
  options: { account: { value: "ID", summary: "only intents of this account" }, ...CONFIG_OPTION },
  examples: ["tributary intents export > intents.jsonl", "tributary intents export --account acct_3x7… > books.jsonl"],
  run: runExport,
};

const EXPORT_PAGE = 1_000;

/** JSON lines with and without --json: a list of all would have no end. */
async function runExport(input: CommandInput): Promise<number> {
  const { values, terminal } = input;
  const operator = await openOperatorClient(input);
  let count = 0;
  try {
    for (let cursor: string | undefined; ;) {
      const filters = { accountId: values["account"], limit: EXPORT_PAGE, cursor };
      const { data, nextCursor } = await operator.call("intents export", filters);
      for (const intent of data) terminal.out(toJson(intent));
      count += data.length;
      terminal.progress(`${count} intents`);
      if (nextCursor === null || terminal.outputClosed.aborted) break;
      cursor = nextCursor;
    }
  } finally {
    await operator.close();
  }
  terminal.note(`${count} intents. Keep them away from this service; they contain no secret.`);
  return 0;
}

function formatIntent(
  { intent, deposits, settlements, accountId }: IntentSnapshot & { accountId: string },
  terminal: Terminal,
): string[] {
  const { amounts, payout } = intent;
  const units = (text: string | null) =>
    text === null ? formatAmount(text, payout.decimals) : `${formatAmount(text, payout.decimals)} ${symbolOf(payout)}`;
  return [
    ...formatFields(terminal, [
      ["intent", intent.intentId],
      ["account", accountId],
      ["status", `${intent.status}, ${intent.paymentStatus}`],
      ["reference", intent.merchantReference ?? ""],
      ["inbox", intent.inboxAddress],
      ["payout", `${payout.railId} to ${payout.wallet}, fee ${intent.feeBps} bps`],
      ["price", units(amounts.priceUnits)],
      ["received", units(amounts.receivedUnits)],
      ["counted", units(amounts.countedUnits)],
      ["paid out", `${units(amounts.settledUnits)} = ${units(amounts.netUnits)} net + ${units(amounts.feeUnits)} fee`],
      ["checkout", intent.checkoutUrl],
      ["created", intent.createdAt],
    ]),
    "",
    ...formatTable(terminal, ["deposit", "status", "amount", "block", "transaction"], deposits.map(depositRow)),
    "",
    ...formatTable(
      terminal,
      ["settlement", "status", "gross", "net", "fee", "transaction"],
      settlements.map((settlement) => settlementRow(settlement, findSettlementToken(settlement, { intent, deposits }))),
    ),
  ];
}

function depositRow({
  depositId,
  status,
  reason,
  late,
  amountUnits,
  token,
  blockNumber,
  txHash,
}: DepositRecord): string[] {
  const state = [status, reason === null ? "" : `(${reason})`, late ? "late" : ""]
    .filter((part) => part !== "")
    .join(" ");
  return [
    depositId,
    state,
    `${formatUnits(BigInt(amountUnits), token.decimals)} ${token.symbol}`,
    String(blockNumber),
    txHash,
  ];
}

type Token = { symbol: string; decimals: number };

/**
 * The settled token. It may differ from the payout token, after a rescue. Without known decimals, amounts are in
 * smallest units.
 */
function findSettlementToken(
  { caip19 }: SettlementRecord,
  { intent, deposits }: Pick<IntentSnapshot, "intent" | "deposits">,
): Token {
  const { payout } = intent;
  if (caip19 === payout.caip19) return { symbol: symbolOf(payout), decimals: payout.decimals };
  const deposit = deposits.find((candidate) => candidate.caip19 === caip19);
  return deposit?.token ?? { symbol: `units of ${caip19}`, decimals: 0 };
}

function settlementRow(settlement: SettlementRecord, { symbol, decimals }: Token): string[] {
  const { settlementId, status, reason, grossUnits, netUnits, feeUnits, txs } = settlement;
  const state = reason === null ? status : `${status} (${reason})`;
  const [gross, net, fee] = [grossUnits, netUnits, feeUnits].map((units) => formatAmount(units, decimals));
  return [settlementId, state, `${gross} ${symbol}`, `${net}`, `${fee}`, txs.at(-1)?.txHash ?? ""];
}

/** The payout token's symbol, by its rail. */
function symbolOf({ railId }: { railId: string }): string {
  return railId.split(":")[1]?.toUpperCase() ?? "";
}

/** Formats smallest units as a decimal; "–" for null. */
function formatAmount(units: string | null, decimals: number): string {
  return units === null ? "–" : formatUnits(BigInt(units), decimals);
}
