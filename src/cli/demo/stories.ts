import {
  check,
  checkMoney,
  createIntent,
  payIntent,
  readBalances,
  shownUnits,
  unitsOf,
  untilCounted,
  untilSettled,
  type Check,
  type Intent,
  type Stage,
} from "./stage.ts";

// The stories in the order in which they are told. Amounts are whole tokens, so that no rounding hides a difference.

export type Told = { intentId: string; checks: Check[] };
export type Story = { title: string; tell(stage: Stage): Promise<Told> };

/** Millionths of the payout currency. */
const PRICE_UNITS_OF_ONE = 1_000_000;
const oneTime = (price: number, merchantReference: string) => ({
  priceUnits: price * PRICE_UNITS_OF_ONE,
  oneTime: true,
  merchantReference,
});

export const STORIES: readonly Story[] = [
  { title: "A one-time intent of 25, paid in one go", tell: paidAtOnce },
  { title: "An intent of 30, paid in three parts", tell: paidInParts },
  { title: "An intent of 10, paid with 12", tell: overpaid },
  { title: "5 more, sent to an intent that has settled already", tell: paidLate },
];

async function paidAtOnce(stage: Stage): Promise<Told> {
  const intent = await createIntent(stage, oneTime(25, "demo: paid at once"));
  const before = await readBalances(stage, intent);
  await untilCounted(stage, intent, await payIntent(stage, intent, 25));
  const reading = await untilSettled(stage, intent);
  const paid = unitsOf(intent, 25);
  const money = await checkMoney(stage, reading, { before, gainedUnits: paid, totalUnits: paid });
  return { intentId: intent.intentId, checks: [...money, ...checkState(reading.intent, "settled", "paid")] };
}

async function paidInParts(stage: Stage): Promise<Told> {
  const intent = await createIntent(stage, oneTime(30, "demo: paid in parts"));
  const before = await readBalances(stage, intent);
  const first = await untilCounted(stage, intent, await payIntent(stage, intent, 10));
  const second = await untilCounted(stage, intent, await payIntent(stage, intent, 12));
  await untilCounted(stage, intent, await payIntent(stage, intent, 8));
  const reading = await untilSettled(stage, intent);
  const paid = unitsOf(intent, 30);
  const money = await checkMoney(stage, reading, { before, gainedUnits: paid, totalUnits: paid });
  const missing = (what: string, amount: number, at: Intent) =>
    check(what, shownUnits(intent, unitsOf(intent, amount)), shownUnits(intent, BigInt(at.amounts.shortfallUnits)));
  return {
    intentId: intent.intentId,
    checks: [
      ...checkState(first.intent, "active", "partial"),
      missing("after the first part there are missing", 20, first.intent),
      missing("after the second part there are missing", 8, second.intent),
      ...money,
      ...checkState(reading.intent, "settled", "paid"),
    ],
  };
}

async function overpaid(stage: Stage): Promise<Told> {
  const intent = await createIntent(stage, oneTime(10, "demo: overpaid"));
  const before = await readBalances(stage, intent);
  await untilCounted(stage, intent, await payIntent(stage, intent, 12));
  const reading = await untilSettled(stage, intent);
  const paid = unitsOf(intent, 12);
  const money = await checkMoney(stage, reading, { before, gainedUnits: paid, totalUnits: paid });
  const excess = shownUnits(intent, BigInt(reading.intent.amounts.excessUnits));
  return {
    intentId: intent.intentId,
    checks: [
      ...money,
      ...checkState(reading.intent, "settled", "overpaid"),
      check("the intent says in excess", shownUnits(intent, unitsOf(intent, 2)), excess),
    ],
  };
}

async function paidLate(stage: Stage): Promise<Told> {
  const intent = await createIntent(stage, oneTime(20, "demo: paid late"));
  await untilCounted(stage, intent, await payIntent(stage, intent, 20));
  await untilSettled(stage, intent);
  const before = await readBalances(stage, intent);
  const txHash = await payIntent(stage, intent, 5);
  await untilCounted(stage, intent, txHash);
  const reading = await untilSettled(stage, intent);
  const money = await checkMoney(stage, reading, {
    before,
    gainedUnits: unitsOf(intent, 5),
    totalUnits: unitsOf(intent, 25),
  });
  const late = reading.deposits.find((deposit) => deposit.txHash === txHash)?.late;
  return {
    intentId: intent.intentId,
    checks: [
      ...money,
      check("the last deposit is marked late", "true", String(late)),
      ...checkState(reading.intent, "settled", "overpaid"),
    ],
  };
}

function checkState(intent: Intent, status: string, paymentStatus: string): Check[] {
  return [check("the intent is", `${status}, ${paymentStatus}`, `${intent.status}, ${intent.paymentStatus}`)];
}
