import type { DepositRecord } from "../deposit/record.ts";
import { formatUnits } from "../kernel/units.ts";
import type { SettlementRecord } from "../settlement/record.ts";
import type { Command, CommandInput } from "./command.ts";
import { askOnce, CONFIG_OPTION } from "./operator.ts";
import type { ShownIntent } from "./operations/intents.ts";
import type { Reading } from "./reading.ts";
import { listing, table, toJson, type Terminal } from "./terminal.ts";

export const intentsList: Command = {
  name: "intents list",
  summary: "List payment intents of all accounts, newest first",
  positionals: [],
  options: {
    account: { value: "ID", summary: "only this account's" },
    status: { value: "STATUS", summary: "active, settled or archived" },
    limit: { value: "COUNT", summary: "how many at most; 20 when left out" },
    ...CONFIG_OPTION,
  },
  examples: ["tributary intents list --status active --limit 5"],
  run: runList,
};

export const intentsShow: Command = {
  name: "intents show",
  summary: "Show one payment intent with its deposits and settlements",
  positionals: [{ name: "intentId", summary: "pi_…" }],
  options: CONFIG_OPTION,
  examples: ["tributary intents show pi_3x7…"],
  run: runShow,
};

async function runList(input: CommandInput): Promise<number> {
  const { text, terminal, asJson } = input;
  const question = { accountId: text["account"], status: text["status"], limit: text["limit"] };
  const intents = (await askOnce(input, "intents list", question)) as ShownIntent[];
  if (asJson) terminal.out(toJson(intents));
  else {
    const rows = intents.map(({ intentId, accountId, status, paymentStatus, amounts, payout, merchantReference }) => [
      intentId,
      accountId,
      status,
      paymentStatus,
      `${unitsText(amounts.countedUnits, payout.decimals)} of ${unitsText(amounts.priceUnits, payout.decimals)}`,
      payout.railId,
      merchantReference ?? "",
    ]);
    for (const line of table(
      terminal,
      ["intent", "account", "status", "payment", "counted", "rail", "reference"],
      rows,
    ))
      terminal.out(line);
  }
  return 0;
}

async function runShow(input: CommandInput): Promise<number> {
  const { positionals, terminal, asJson } = input;
  const reading = (await askOnce(input, "intents show", { intentId: positionals[0] })) as Reading & {
    accountId: string;
  };
  if (asJson) terminal.out(toJson(reading));
  else for (const line of describe(reading, terminal)) terminal.out(line);
  return 0;
}

function describe(
  { intent, deposits, settlements, accountId }: Reading & { accountId: string },
  terminal: Terminal,
): string[] {
  const { amounts, payout } = intent;
  const units = (text: string | null) => unitsText(text, payout.decimals);
  return [
    ...listing(terminal, [
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
    ...table(terminal, ["deposit", "status", "amount", "block", "transaction"], deposits.map(depositRow)),
    "",
    ...table(
      terminal,
      ["settlement", "status", "gross", "net", "fee", "transaction"],
      settlements.map((settlement) => settlementRow(settlement, tokenOf(settlement, { intent, deposits }))),
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
    .filter((word) => word !== "")
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

/** The token that was swept, which need not be the payout's; units of it where nothing tells its decimals. */
function tokenOf({ caip19 }: SettlementRecord, { intent, deposits }: Pick<Reading, "intent" | "deposits">): Token {
  const { payout } = intent;
  if (caip19 === payout.caip19)
    return { symbol: payout.railId.split(":")[1]?.toUpperCase() ?? "", decimals: payout.decimals };
  const deposit = deposits.find((candidate) => candidate.caip19 === caip19);
  return deposit?.token ?? { symbol: `units of ${caip19}`, decimals: 0 };
}

function settlementRow(settlement: SettlementRecord, { symbol, decimals }: Token): string[] {
  const { settlementId, status, reason, grossUnits, netUnits, feeUnits, txs } = settlement;
  const state = reason === null ? status : `${status} (${reason})`;
  const [gross, net, fee] = [grossUnits, netUnits, feeUnits].map((units) => unitsText(units, decimals));
  return [settlementId, state, `${gross} ${symbol}`, `${net}`, `${fee}`, txs[0]?.txHash ?? ""];
}

/** A decimal, or a dash where there is no amount. */
function unitsText(units: string | null, decimals: number): string {
  return units === null ? "–" : formatUnits(BigInt(units), decimals);
}
