import type { TributaryClient } from "@tributary/client";
import type { CreatePaymentIntentBody } from "@tributary/client/types";
import { formatUnits, feeOf } from "../../kernel/units.ts";
import { withApiError } from "../../operator/client/apiClient.ts";
import { CommandError } from "../../operator/errors.ts";
import type { Payer } from "../../operator/client/payer.ts";
import { pollUntil, type SnapshotReader, type IntentSnapshot } from "../../operator/client/intentSnapshot.ts";
import type { Terminal } from "../../operator/process/terminal.ts";

// What every story of the demo needs: a merchant with a key, a payer with a wallet, and somebody who takes notes.

export type DemoContext = {
  api: TributaryClient;
  read: SnapshotReader;
  payer: Payer;
  terminal: Terminal;
  /** Settlements that the notes tell of already. */
  reportedSettlements: Set<string>;
  /** How long one step may take before the story fails. */
  timeoutMs: number;
};

export type DemoIntent = IntentSnapshot["intent"];

/** One number that had to come out, and what came out. */
export type Check = { what: string; expected: string; found: string; isRight: boolean };

export type Balances = { payout: bigint; fee: bigint; inbox: bigint };

const POLL_MS = 600;

export async function createIntent(context: DemoContext, body: CreatePaymentIntentBody): Promise<DemoIntent> {
  const intent = await withApiError(context.api.createPaymentIntent(body));
  printStep(context, "created", `${intent.intentId}, inbox ${intent.inboxAddress}`);
  const { chainReference } = intent.payout;
  if (String(context.payer.chainId) !== chainReference)
    throw new CommandError(
      `The node is one of chain ${context.payer.chainId}, and this is paid on chain ${chainReference}.`,
    );
  return intent;
}

/** `amount` in whole payout tokens. */
export function toUnits(intent: DemoIntent, amount: number): bigint {
  return BigInt(amount) * 10n ** BigInt(intent.payout.decimals);
}

function symbolOf(intent: DemoIntent): string {
  return (intent.payout.railId.split(":")[1] ?? "").toUpperCase();
}

export function formatIntentUnits(intent: DemoIntent, amountUnits: bigint): string {
  return `${formatUnits(amountUnits, intent.payout.decimals)} ${symbolOf(intent)}`;
}

/** What the chain itself says they hold. */
export async function readBalances({ payer }: DemoContext, intent: DemoIntent): Promise<Balances> {
  const token = intent.payout.tokenAddress;
  const owners = [intent.payout.wallet, intent.inboxTerms.feeRecipient, intent.inboxAddress];
  const [payout = 0n, fee = 0n, inbox = 0n] = await Promise.all(owners.map((owner) => payer.balanceOf(token, owner)));
  return { payout, fee, inbox };
}

/** Sends `amount` whole tokens and returns the transaction. */
export async function payIntent(context: DemoContext, intent: DemoIntent, amount: number): Promise<string> {
  const sent = await context.payer.transfer(intent.payout.tokenAddress, intent.inboxAddress, toUnits(intent, amount));
  printStep(context, "paid", `${amount} ${symbolOf(intent)} in block ${sent.blockNumber}, ${sent.txHash}`);
  return sent.txHash;
}

/** Watches one deposit until it is counted. */
export async function waitUntilCounted(
  context: DemoContext,
  intent: DemoIntent,
  txHash: string,
): Promise<IntentSnapshot> {
  let lastStatus = "";
  return pollUntil(
    () => context.read(intent.intentId),
    (reading) => depositOf(reading, txHash)?.status === "counted",
    {
      description: `The counting of ${txHash}`,
      timeoutMs: context.timeoutMs,
      intervalMs: POLL_MS,
      onRead(reading) {
        const deposit = depositOf(reading, txHash);
        if (deposit === undefined) return context.terminal.progress("   waiting to be seen");
        const needed =
          deposit.requiredConfirmations === null ? "finality" : `${deposit.requiredConfirmations} confirmations`;
        if (lastStatus === "") printStep(context, "seen", `in block ${deposit.blockNumber}`);
        if (deposit.status === lastStatus) context.terminal.progress(`   ${deposit.status}, waiting for ${needed}`);
        else if (deposit.status === "counted")
          printStep(context, "counted", `with ${needed}, the intent is ${reading.intent.paymentStatus}`);
        else if (deposit.status !== "seen") printStep(context, deposit.status, deposit.reason ?? "");
        lastStatus = deposit.status;
      },
    },
  );
}

/** Waits until everything that was counted has been paid out. */
export async function waitUntilSettled(context: DemoContext, intent: DemoIntent): Promise<IntentSnapshot> {
  context.terminal.progress("   waiting for the settlement");
  return pollUntil(() => context.read(intent.intentId), isSettled, {
    description: `The settlement of ${intent.intentId}`,
    timeoutMs: context.timeoutMs,
    intervalMs: POLL_MS,
    onRead({ settlements }) {
      for (const { settlementId, status, grossUnits, feeUnits, netUnits, txs } of settlements.toReversed()) {
        if (status !== "landed" || context.reportedSettlements.has(settlementId)) continue;
        context.reportedSettlements.add(settlementId);
        const [tx] = txs;
        const split = [grossUnits, netUnits, feeUnits].map((units) =>
          formatUnits(BigInt(units ?? 0), intent.payout.decimals),
        );
        printStep(
          context,
          "settled",
          `${split[0]} = ${split[1]} to the merchant + ${split[2]} fee, block ${tx?.blockNumber}, ${tx?.txHash}`,
        );
      }
    },
  });
}

function isSettled({ deposits, settlements }: IntentSnapshot): boolean {
  const landed = new Set(
    settlements.filter(({ status }) => status === "landed").map(({ settlementId }) => settlementId),
  );
  return deposits.every(({ settlementId }) => settlementId !== null && landed.has(settlementId));
}

function depositOf({ deposits }: IntentSnapshot, txHash: string): IntentSnapshot["deposits"][number] | undefined {
  return deposits.find((deposit) => deposit.txHash === txHash);
}

/** What must be true once `amount` whole tokens have come and gone: on the chain, and in the intent's own words. */
export async function checkBalances(
  context: DemoContext,
  reading: IntentSnapshot,
  expectedChange: { before: Balances; gainedUnits: bigint; totalUnits: bigint },
): Promise<Check[]> {
  const { intent } = reading;
  const after = await readBalances(context, intent);
  const fee = (grossUnits: bigint) => feeOf(grossUnits, 0n, intent.feeBps);
  const [gainedFee, totalFee] = [fee(expectedChange.gainedUnits), fee(expectedChange.totalUnits)];
  const units = (what: string, expected: bigint, found: bigint) =>
    compareTexts(what, formatIntentUnits(intent, expected), formatIntentUnits(intent, found));
  const { amounts } = intent;
  return [
    units(
      "the payout wallet has grown by",
      expectedChange.gainedUnits - gainedFee,
      after.payout - expectedChange.before.payout,
    ),
    units("the fee wallet has grown by", gainedFee, after.fee - expectedChange.before.fee),
    units("the inbox holds", 0n, after.inbox),
    units("the intent says received", expectedChange.totalUnits, BigInt(amounts.receivedUnits)),
    units("the intent says counted", expectedChange.totalUnits, BigInt(amounts.countedUnits)),
    units("the intent says settled", expectedChange.totalUnits, BigInt(amounts.settledUnits)),
    units("the intent says fee", totalFee, BigInt(amounts.feeUnits)),
    units("the intent says net", expectedChange.totalUnits - totalFee, BigInt(amounts.netUnits)),
  ];
}

export function compareTexts(what: string, expected: string, found: string): Check {
  return { what, expected, found, isRight: expected === found };
}

const LABEL_WIDTH = 8;

/** A line of the story that stays. */
function printStep({ terminal }: DemoContext, label: string, rest: string): void {
  terminal.note(`   ${terminal.paint("cyan", label.padEnd(LABEL_WIDTH))} ${rest}`);
}
