import {
  compareTexts,
  checkBalances,
  createIntent,
  payIntent,
  readBalances,
  formatIntentUnits,
  toUnits,
  waitUntilCounted,
  waitUntilSettled,
  type Check,
  type DemoIntent,
  type DemoContext,
} from "./context.ts";

// The stories in the order in which they are told. Amounts are whole tokens, so that no rounding hides a difference.

export type ScenarioResult = { intentId: string; checks: Check[] };
export type DemoScenario = { title: string; run(stage: DemoContext): Promise<ScenarioResult> };

/** Millionths of the payout currency. */
const PRICE_UNITS_PER_CURRENCY_UNIT = 1_000_000;
const oneTimeIntent = (price: number, merchantReference: string) => ({
  priceUnits: price * PRICE_UNITS_PER_CURRENCY_UNIT,
  oneTime: true,
  merchantReference,
});

export const SCENARIOS: readonly DemoScenario[] = [
  { title: "A one-time intent of 25, paid in one go", run: payAtOnce },
  { title: "An intent of 30, paid in three parts", run: payInParts },
  { title: "An intent of 10, paid with 12", run: payTooMuch },
  { title: "5 more, sent to an intent that has settled already", run: payAfterSettled },
];

async function payAtOnce(context: DemoContext): Promise<ScenarioResult> {
  const intent = await createIntent(context, oneTimeIntent(25, "demo: paid at once"));
  const before = await readBalances(context, intent);
  await waitUntilCounted(context, intent, await payIntent(context, intent, 25));
  const reading = await waitUntilSettled(context, intent);
  const paid = toUnits(intent, 25);
  const money = await checkBalances(context, reading, { before, gainedUnits: paid, totalUnits: paid });
  return { intentId: intent.intentId, checks: [...money, ...checkState(reading.intent, "settled", "paid")] };
}

async function payInParts(context: DemoContext): Promise<ScenarioResult> {
  const intent = await createIntent(context, oneTimeIntent(30, "demo: paid in parts"));
  const before = await readBalances(context, intent);
  const first = await waitUntilCounted(context, intent, await payIntent(context, intent, 10));
  const second = await waitUntilCounted(context, intent, await payIntent(context, intent, 12));
  await waitUntilCounted(context, intent, await payIntent(context, intent, 8));
  const reading = await waitUntilSettled(context, intent);
  const paid = toUnits(intent, 30);
  const money = await checkBalances(context, reading, { before, gainedUnits: paid, totalUnits: paid });
  const checkShortfall = (what: string, amount: number, at: DemoIntent) =>
    compareTexts(
      what,
      formatIntentUnits(intent, toUnits(intent, amount)),
      formatIntentUnits(intent, BigInt(at.amounts.shortfallUnits)),
    );
  return {
    intentId: intent.intentId,
    checks: [
      ...checkState(first.intent, "active", "partial"),
      checkShortfall("after the first part there are missing", 20, first.intent),
      checkShortfall("after the second part there are missing", 8, second.intent),
      ...money,
      ...checkState(reading.intent, "settled", "paid"),
    ],
  };
}

async function payTooMuch(context: DemoContext): Promise<ScenarioResult> {
  const intent = await createIntent(context, oneTimeIntent(10, "demo: overpaid"));
  const before = await readBalances(context, intent);
  await waitUntilCounted(context, intent, await payIntent(context, intent, 12));
  const reading = await waitUntilSettled(context, intent);
  const paid = toUnits(intent, 12);
  const money = await checkBalances(context, reading, { before, gainedUnits: paid, totalUnits: paid });
  const excess = formatIntentUnits(intent, BigInt(reading.intent.amounts.excessUnits));
  return {
    intentId: intent.intentId,
    checks: [
      ...money,
      ...checkState(reading.intent, "settled", "overpaid"),
      compareTexts("the intent says in excess", formatIntentUnits(intent, toUnits(intent, 2)), excess),
    ],
  };
}

async function payAfterSettled(context: DemoContext): Promise<ScenarioResult> {
  const intent = await createIntent(context, oneTimeIntent(20, "demo: paid late"));
  await waitUntilCounted(context, intent, await payIntent(context, intent, 20));
  await waitUntilSettled(context, intent);
  const before = await readBalances(context, intent);
  const txHash = await payIntent(context, intent, 5);
  await waitUntilCounted(context, intent, txHash);
  const reading = await waitUntilSettled(context, intent);
  const money = await checkBalances(context, reading, {
    before,
    gainedUnits: toUnits(intent, 5),
    totalUnits: toUnits(intent, 25),
  });
  const late = reading.deposits.find((deposit) => deposit.txHash === txHash)?.late;
  return {
    intentId: intent.intentId,
    checks: [
      ...money,
      compareTexts("the last deposit is marked late", "true", String(late)),
      ...checkState(reading.intent, "settled", "overpaid"),
    ],
  };
}

function checkState(intent: DemoIntent, status: string, paymentStatus: string): Check[] {
  return [compareTexts("the intent is", `${status}, ${paymentStatus}`, `${intent.status}, ${intent.paymentStatus}`)];
}
