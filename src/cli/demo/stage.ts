import type { Tributary } from "@tributary/client";
import type { CreatePaymentIntentBody } from "@tributary/client/types";
import { formatUnits, feeOf } from "../../kernel/units.ts";
import { answerTo } from "../api.ts";
import { CommandFailed } from "../command.ts";
import type { Payer } from "../payer.ts";
import { waitUntil, type Reader, type Reading } from "../reading.ts";
import type { Terminal } from "../terminal.ts";

// What every story of the demo needs: a merchant with a key, a payer with a wallet, and somebody who takes notes.

export type Stage = {
  api: Tributary;
  read: Reader;
  payer: Payer;
  terminal: Terminal;
  /** Settlements that the notes tell of already. */
  told: Set<string>;
  /** How long one step may take before the story fails. */
  timeoutMs: number;
};

export type Intent = Reading["intent"];

/** One number that had to come out, and what came out. */
export type Check = { what: string; expected: string; found: string; isRight: boolean };

export type Balances = { payout: bigint; fee: bigint; inbox: bigint };

const INTERVAL_MS = 600;

export async function createIntent(stage: Stage, body: CreatePaymentIntentBody): Promise<Intent> {
  const intent = await answerTo(stage.api.createPaymentIntent(body));
  say(stage, "created", `${intent.intentId}, inbox ${intent.inboxAddress}`);
  const { chainReference } = intent.payout;
  if (String(stage.payer.chainId) !== chainReference)
    throw new CommandFailed(
      `The node is one of chain ${stage.payer.chainId}, and this is paid on chain ${chainReference}.`,
    );
  return intent;
}

/** `amount` in whole payout tokens. */
export function unitsOf(intent: Intent, amount: number): bigint {
  return BigInt(amount) * 10n ** BigInt(intent.payout.decimals);
}

function symbolOf(intent: Intent): string {
  return (intent.payout.railId.split(":")[1] ?? "").toUpperCase();
}

export function shownUnits(intent: Intent, amountUnits: bigint): string {
  return `${formatUnits(amountUnits, intent.payout.decimals)} ${symbolOf(intent)}`;
}

/** What the chain itself says they hold. */
export async function readBalances({ payer }: Stage, intent: Intent): Promise<Balances> {
  const token = intent.payout.tokenAddress;
  const owners = [intent.payout.wallet, intent.inboxTerms.feeRecipient, intent.inboxAddress];
  const [payout = 0n, fee = 0n, inbox = 0n] = await Promise.all(owners.map((owner) => payer.balanceOf(token, owner)));
  return { payout, fee, inbox };
}

/** Sends `amount` whole tokens and returns the transaction. */
export async function payIntent(stage: Stage, intent: Intent, amount: number): Promise<string> {
  const sent = await stage.payer.transfer(intent.payout.tokenAddress, intent.inboxAddress, unitsOf(intent, amount));
  say(stage, "paid", `${amount} ${symbolOf(intent)} in block ${sent.blockNumber}, ${sent.txHash}`);
  return sent.txHash;
}

/** Watches one deposit until it is counted. */
export async function untilCounted(stage: Stage, intent: Intent, txHash: string): Promise<Reading> {
  let last = "";
  return waitUntil(
    () => stage.read(intent.intentId),
    (reading) => depositOf(reading, txHash)?.status === "counted",
    {
      what: `The counting of ${txHash}`,
      timeoutMs: stage.timeoutMs,
      intervalMs: INTERVAL_MS,
      onRead(reading) {
        const deposit = depositOf(reading, txHash);
        if (deposit === undefined) return stage.terminal.progress("   waiting to be seen");
        const needed =
          deposit.requiredConfirmations === null ? "finality" : `${deposit.requiredConfirmations} confirmations`;
        if (last === "") say(stage, "seen", `in block ${deposit.blockNumber}`);
        if (deposit.status === last) stage.terminal.progress(`   ${deposit.status}, waiting for ${needed}`);
        else if (deposit.status === "counted")
          say(stage, "counted", `with ${needed}, the intent is ${reading.intent.paymentStatus}`);
        else if (deposit.status !== "seen") say(stage, deposit.status, deposit.reason ?? "");
        last = deposit.status;
      },
    },
  );
}

/** Waits until everything that was counted has been paid out. */
export async function untilSettled(stage: Stage, intent: Intent): Promise<Reading> {
  stage.terminal.progress("   waiting for the settlement");
  return waitUntil(() => stage.read(intent.intentId), isSettled, {
    what: `The settlement of ${intent.intentId}`,
    timeoutMs: stage.timeoutMs,
    intervalMs: INTERVAL_MS,
    onRead({ settlements }) {
      for (const { settlementId, status, grossUnits, feeUnits, netUnits, txs } of settlements.toReversed()) {
        if (status !== "landed" || stage.told.has(settlementId)) continue;
        stage.told.add(settlementId);
        const [tx] = txs;
        const split = [grossUnits, netUnits, feeUnits].map((units) =>
          formatUnits(BigInt(units ?? 0), intent.payout.decimals),
        );
        say(
          stage,
          "settled",
          `${split[0]} = ${split[1]} to the merchant + ${split[2]} fee, block ${tx?.blockNumber}, ${tx?.txHash}`,
        );
      }
    },
  });
}

function isSettled({ deposits, settlements }: Reading): boolean {
  const landed = new Set(
    settlements.filter(({ status }) => status === "landed").map(({ settlementId }) => settlementId),
  );
  return deposits.every(({ settlementId }) => settlementId !== null && landed.has(settlementId));
}

function depositOf({ deposits }: Reading, txHash: string): Reading["deposits"][number] | undefined {
  return deposits.find((deposit) => deposit.txHash === txHash);
}

/** What must be true once `amount` whole tokens have come and gone: on the chain, and in the intent's own words. */
export async function checkMoney(
  stage: Stage,
  reading: Reading,
  of: { before: Balances; gainedUnits: bigint; totalUnits: bigint },
): Promise<Check[]> {
  const { intent } = reading;
  const after = await readBalances(stage, intent);
  const fee = (grossUnits: bigint) => feeOf(grossUnits, 0n, intent.feeBps);
  const [gainedFee, totalFee] = [fee(of.gainedUnits), fee(of.totalUnits)];
  const units = (what: string, expected: bigint, found: bigint) =>
    check(what, shownUnits(intent, expected), shownUnits(intent, found));
  const { amounts } = intent;
  return [
    units("the payout wallet has grown by", of.gainedUnits - gainedFee, after.payout - of.before.payout),
    units("the fee wallet has grown by", gainedFee, after.fee - of.before.fee),
    units("the inbox holds", 0n, after.inbox),
    units("the intent says received", of.totalUnits, BigInt(amounts.receivedUnits)),
    units("the intent says counted", of.totalUnits, BigInt(amounts.countedUnits)),
    units("the intent says settled", of.totalUnits, BigInt(amounts.settledUnits)),
    units("the intent says fee", totalFee, BigInt(amounts.feeUnits)),
    units("the intent says net", of.totalUnits - totalFee, BigInt(amounts.netUnits)),
  ];
}

export function check(what: string, expected: string, found: string): Check {
  return { what, expected, found, isRight: expected === found };
}

const WORD_WIDTH = 8;

/** A line of the story that stays. */
function say({ terminal }: Stage, word: string, rest: string): void {
  terminal.note(`   ${terminal.paint("cyan", word.padEnd(WORD_WIDTH))} ${rest}`);
}
