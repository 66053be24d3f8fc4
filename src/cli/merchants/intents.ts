import type { DepositRecord } from "../../deposit/depositRecord.ts";
import { formatUnits } from "../../kernel/units.ts";
import type { SettlementRecord } from "../../settlement/settlementRecord.ts";
import type { Command, CommandInput } from "../command.ts";
import { PAGE_OPTIONS, printPage, readPageOptions } from "../listPage.ts";
import { callOnce, CONFIG_OPTION } from "../operatorClient.ts";
import type { IntentSnapshot } from "../../operator/intentOperations.ts";
import { formatFields, formatTable, toJson, type Terminal } from "../../operator/process/terminal.ts";

export const intentsList: Command = {
  name: "intents list",
  summary: "List payment intents of all accounts, newest first",
  positionals: [],
  options: {
    account: { value: "ID", summary: "only intents of this account" },
    status: { value: "STATUS", summary: "only intents in this status: active, settled or archived" },
    ...PAGE_OPTIONS,
    ...CONFIG_OPTION,
  },
  examples: ["tributary intents list --status active --limit 5"],
  run: runList,
};

export const intentsShow: Command = {
  name: "intents show",
  summary: "Show one payment intent with its deposits and settlements",
  positionals: [{ name: "intentId", summary: "intent id (pi_…)" }],
  options: CONFIG_OPTION,
  examples: ["tributary intents show pi_3x7…"],
  run: runShow,
};

export const intentsArchive: Command = {
  name: "intents archive",
  summary: "Archive a payment intent: it frees its destination, and later deposits are still paid out",
  positionals: [{ name: "intentId", summary: "intent id (pi_…)" }],
  options: CONFIG_OPTION,
  examples: ["tributary intents archive pi_3x7…"],
  run: runArchive,
};

async function runList(input: CommandInput): Promise<number> {
  const { values, terminal } = input;
  const filters = { accountId: values["account"], status: values["status"], ...readPageOptions(input) };
  const page = await callOnce(input, "intents list", filters);
  printPage(input, page, (intents) => {
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
  });
  return 0;
}

async function runArchive(input: CommandInput): Promise<number> {
  const { positionals, terminal, asJson } = input;
  const intent = await callOnce(input, "intents archive", { intentId: positionals[0] });
  terminal.out(asJson ? toJson(intent) : `${intent.intentId} is ${intent.status}. Later deposits are still paid out.`);
  return 0;
}

async function runShow(input: CommandInput): Promise<number> {
  const { positionals, terminal, asJson } = input;
  const snapshot = await callOnce(input, "intents show", { intentId: positionals[0] });
  if (asJson) terminal.out(toJson(snapshot));
  else for (const line of formatIntent(snapshot, terminal)) terminal.out(line);
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
      ["settled", `${units(amounts.settledUnits)} = ${units(amounts.netUnits)} net + ${units(amounts.feeUnits)} fee`],
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

/** The settled token. It may differ from the payout token, after a rescue. Without known decimals, amounts are in smallest units. */
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
