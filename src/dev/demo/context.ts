import type { TributaryClient } from "@tributary/client";
import type { CreatePaymentIntentBody } from "@tributary/client/types";
import { caip2, referenceOf } from "../../kernel/caip.ts";
import { formatUnits, feeOf } from "../../kernel/units.ts";
import { withApiError } from "../../operator/client/apiClient.ts";
import { CommandError } from "../../operator/errors.ts";
import type { SolanaPayer } from "../../operator/client/solanaPayer.ts";
import type { Payer } from "../../operator/client/payer.ts";
import { pollUntil, type SnapshotReader } from "../../operator/client/intentSnapshot.ts";
import type { IntentSnapshot } from "../../operator/intentOperations.ts";
import type { Terminal } from "../../operator/process/terminal.ts";

// The steps and checks that the demo's scenarios share.

export type DemoContext = {
  api: TributaryClient;
  read: SnapshotReader;
  payer: Payer;
  /** A payer on Solana, and the wallet that receives its payment; absent outside the dev world. */
  solana?: { payer: SolanaPayer; payoutWallet: string };
  /** A payer on another chain, with a token there that a bridge carries to the payout; absent outside the dev world. */
  away?: { payer: Payer; token: string; chainName: string };
  terminal: Terminal;
  /** Ids of settlements that are already printed. */
  reportedSettlements: Set<string>;
  /** Time limit of one step. */
  timeoutMs: number;
};

export type DemoIntent = IntentSnapshot["intent"];

/** One checked value: the expected and the found text. */
export type Check = { what: string; expected: string; found: string; ok: boolean };

export type Balances = { payout: bigint; fee: bigint; inbox: bigint };

const POLL_MS = 600;

export async function createIntent(context: DemoContext, body: CreatePaymentIntentBody): Promise<DemoIntent> {
  const intent = await withApiError(context.api.createPaymentIntent(body));
  printStep(context, "created", `${intent.intentId}, inbox ${intent.inboxAddress}`);
  const { namespace, chainReference } = intent.payout;
  if (context.payer.caip2 !== caip2(namespace, chainReference))
    throw new CommandError(
      `--rpc-url must be a node of chain ${chainReference}, and it is one of chain ${referenceOf(context.payer.caip2)}.`,
    );
  return intent;
}

/** Converts whole payout tokens to smallest units. */
export function toUnits(intent: DemoIntent, amount: number): bigint {
  return BigInt(amount) * 10n ** BigInt(intent.payout.decimals);
}

function symbolOf(intent: DemoIntent): string {
  return (intent.payout.railId.split(":")[1] ?? "").toUpperCase();
}

export function formatIntentUnits(intent: DemoIntent, amountUnits: bigint): string {
  return `${formatUnits(amountUnits, intent.payout.decimals)} ${symbolOf(intent)}`;
}

/** Reads the balances of payout wallet, fee wallet and inbox from the chain, in smallest units. */
export async function readBalances({ payer, solana }: DemoContext, intent: DemoIntent): Promise<Balances> {
  const token = intent.payout.tokenAddress;
  const { solana: terms, feeRecipient } = intent.inboxTerms;
  const [payout, fee, inbox] = await Promise.all([
    payer.balanceOf(token, intent.payout.wallet),
    // On Solana the terms name the token account of the fee.
    terms === undefined || solana === undefined
      ? payer.balanceOf(token, feeRecipient)
      : solana.payer.unitsOf(terms.feeAccount),
    payer.balanceOf(token, intent.inboxAddress),
  ]);
  return { payout, fee, inbox };
}

/** Sends `amount` whole tokens to the inbox and returns the transaction hash. */
export async function payIntent(context: DemoContext, intent: DemoIntent, amount: number): Promise<string> {
  const sent = await context.payer.transfer(intent.payout.tokenAddress, intent.inboxAddress, toUnits(intent, amount));
  printStep(context, "paid", `${amount} ${symbolOf(intent)} in block ${sent.blockNumber}, ${sent.txHash}`);
  return sent.txHash;
}

/** Sends `amount` whole tokens to the inbox on another chain and returns the transaction hash. */
export async function payOnOtherChain(context: DemoContext, intent: DemoIntent, amount: number): Promise<string> {
  const { away } = context;
  if (away === undefined) throw new CommandError("Only the dev world has a payer on another chain.");
  const sent = await away.payer.transfer(away.token, intent.inboxAddress, toUnits(intent, amount));
  printStep(
    context,
    "paid",
    `${amount} ${symbolOf(intent)} on ${away.chainName} in block ${sent.blockNumber}, ${sent.txHash}`,
  );
  return sent.txHash;
}

/** Sends `amount` whole tokens to the intent's inbox on Solana, from where they cross. Returns the signature. */
export async function payFromSolanaInbox(context: DemoContext, intent: DemoIntent, amount: number): Promise<string> {
  const { api, solana } = context;
  if (solana === undefined) throw new CommandError("Only the dev world has a payer on Solana.");
  const [terms] = (await withApiError(api.getPaymentIntent(intent.intentId))).inboxTerms.solanaRoutes ?? [];
  if (terms === undefined) throw new CommandError("The intent has no way from Solana.");
  const selector = { namespace: "solana", reference: referenceOf(solana.payer.caip2), mint: terms.mint } as const;
  const { address } = await withApiError(api.createIntentSourceInbox(intent.intentId, selector));
  const sent = await solana.payer.transfer(terms.mint, address, toUnits(intent, amount));
  printStep(context, "paid", `${amount} ${symbolOf(intent)} on Solana in block ${sent.blockNumber}, ${sent.txHash}`);
  return sent.txHash;
}

/**
 * Sends `amount` whole tokens to the intent's inbox on an EVM chain, from where they cross. Returns the transaction's
 * hash.
 */
export async function payFromEvmInbox(context: DemoContext, intent: DemoIntent, amount: number): Promise<string> {
  const { api, away } = context;
  if (away === undefined) throw new CommandError("Only the dev world has a payer on another chain.");
  const chainId = Number(referenceOf(away.payer.caip2));
  const { address } = await withApiError(api.createIntentSourceInbox(intent.intentId, { chainId }));
  const sent = await away.payer.transfer(away.token, address, toUnits(intent, amount));
  printStep(
    context,
    "paid",
    `${amount} ${symbolOf(intent)} on ${away.chainName} in block ${sent.blockNumber}, ${sent.txHash}`,
  );
  return sent.txHash;
}

function formatFinality({ requiredConfirmations, requiredSeconds }: IntentSnapshot["deposits"][number]): string {
  if (requiredSeconds !== null) return `${requiredSeconds} seconds on the chain's clock`;
  return requiredConfirmations === null ? "finality" : `${requiredConfirmations} confirmations`;
}

/** Waits until the deposit of `txHash` is counted, and prints each change of its status. */
export async function waitUntilCounted(
  context: DemoContext,
  intent: DemoIntent,
  txHash: string,
): Promise<IntentSnapshot> {
  let lastStatus = "";
  return pollUntil(
    () => context.read(intent.intentId),
    (snapshot) => depositOf(snapshot, txHash)?.status === "counted",
    {
      description: `Counting ${txHash}`,
      timeoutMs: context.timeoutMs,
      intervalMs: POLL_MS,
      onRead(snapshot) {
        const deposit = depositOf(snapshot, txHash);
        if (deposit === undefined) return context.terminal.progress("   not seen yet");
        const needed = formatFinality(deposit);
        if (lastStatus === "") printStep(context, "seen", `in block ${deposit.blockNumber}`);
        if (deposit.status === lastStatus) context.terminal.progress(`   ${deposit.status}, waiting for ${needed}`);
        else if (deposit.status === "counted")
          printStep(context, "counted", `with ${needed}, the intent is ${snapshot.intent.paymentStatus}`);
        else if (deposit.status !== "seen") printStep(context, deposit.status, deposit.reason ?? "");
        lastStatus = deposit.status;
      },
    },
  );
}

/** Waits until every deposit is settled, and prints each settlement. */
export async function waitUntilSettled(context: DemoContext, intent: DemoIntent): Promise<IntentSnapshot> {
  context.terminal.progress("   waiting for the settlement");
  return pollUntil(() => context.read(intent.intentId), isSettled, {
    description: `Settling ${intent.intentId}`,
    timeoutMs: context.timeoutMs,
    intervalMs: POLL_MS,
    onRead({ settlements }) {
      for (const { settlementId, status, grossUnits, feeUnits, netUnits, txs } of settlements.toReversed()) {
        if (status !== "landed" || context.reportedSettlements.has(settlementId)) continue;
        context.reportedSettlements.add(settlementId);
        // Of a settlement that a bridge carried, the last one landed it.
        const tx = txs.at(-1);
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

/**
 * Checks balances on the chain and amounts of the intent after everything is settled. `expectedChange` is in smallest
 * units.
 */
export async function checkBalances(
  context: DemoContext,
  snapshot: IntentSnapshot,
  expectedChange: { before: Balances; gainedUnits: bigint; totalUnits: bigint },
): Promise<Check[]> {
  const { intent } = snapshot;
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
  return { what, expected, found, ok: expected === found };
}

const LABEL_WIDTH = 8;

/** Prints one finished step. */
function printStep({ terminal }: DemoContext, label: string, rest: string): void {
  terminal.note(`   ${terminal.paint("cyan", label.padEnd(LABEL_WIDTH))} ${rest}`);
}
