import { namespaceOf, referenceOf, type Caip2 } from "../../kernel/caip.ts";
import { CommandError } from "../../operator/errors.ts";
import { checkRent, checkSolanaInbox } from "./solanaChecks.ts";
import {
  compareTexts,
  checkBalances,
  createIntent,
  payFromEvmInbox,
  payFromSolanaInbox,
  payOnOtherChain,
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

// The scenarios of the demo, in order. Amounts are whole tokens, so that rounding cannot hide a difference.

export type ScenarioResult = { intentId: string; checks: Check[] };
/** `needs`: the payer that only the dev world has. */
export type DemoScenario = {
  title: string;
  needs?: "away" | "solana";
  run(context: DemoContext): Promise<ScenarioResult>;
};

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
  { title: "A settled intent, paid with 5 more", run: payAfterSettled },
  { title: "An intent of 15, paid on another chain", needs: "away", run: payOnAnotherChain },
  { title: "An intent of 12, paid and paid out on Solana", needs: "solana", run: payOnSolana },
  { title: "An intent of 14, paid on Solana and paid out on an EVM chain", needs: "solana", run: payFromSolana },
  { title: "An intent of 16, paid on an EVM chain and paid out on Solana", needs: "solana", run: payToSolana },
];

async function payAtOnce(context: DemoContext): Promise<ScenarioResult> {
  const intent = await createIntent(context, oneTimeIntent(25, "demo: paid at once"));
  const before = await readBalances(context, intent);
  await waitUntilCounted(context, intent, await payIntent(context, intent, 25));
  const snapshot = await waitUntilSettled(context, intent);
  const paid = toUnits(intent, 25);
  const balanceChecks = await checkBalances(context, snapshot, { before, gainedUnits: paid, totalUnits: paid });
  return { intentId: intent.intentId, checks: [...balanceChecks, ...checkState(snapshot.intent, "settled", "paid")] };
}

async function payInParts(context: DemoContext): Promise<ScenarioResult> {
  const intent = await createIntent(context, oneTimeIntent(30, "demo: paid in parts"));
  const before = await readBalances(context, intent);
  const first = await waitUntilCounted(context, intent, await payIntent(context, intent, 10));
  const second = await waitUntilCounted(context, intent, await payIntent(context, intent, 12));
  await waitUntilCounted(context, intent, await payIntent(context, intent, 8));
  const snapshot = await waitUntilSettled(context, intent);
  const paid = toUnits(intent, 30);
  const balanceChecks = await checkBalances(context, snapshot, { before, gainedUnits: paid, totalUnits: paid });
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
      checkShortfall("the shortfall after the first part is", 20, first.intent),
      checkShortfall("the shortfall after the second part is", 8, second.intent),
      ...balanceChecks,
      ...checkState(snapshot.intent, "settled", "paid"),
    ],
  };
}

async function payTooMuch(context: DemoContext): Promise<ScenarioResult> {
  const intent = await createIntent(context, oneTimeIntent(10, "demo: overpaid"));
  const before = await readBalances(context, intent);
  await waitUntilCounted(context, intent, await payIntent(context, intent, 12));
  const snapshot = await waitUntilSettled(context, intent);
  const paid = toUnits(intent, 12);
  const balanceChecks = await checkBalances(context, snapshot, { before, gainedUnits: paid, totalUnits: paid });
  const excess = formatIntentUnits(intent, BigInt(snapshot.intent.amounts.excessUnits));
  return {
    intentId: intent.intentId,
    checks: [
      ...balanceChecks,
      ...checkState(snapshot.intent, "settled", "overpaid"),
      compareTexts("the intent says excess", formatIntentUnits(intent, toUnits(intent, 2)), excess),
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
  const snapshot = await waitUntilSettled(context, intent);
  const balanceChecks = await checkBalances(context, snapshot, {
    before,
    gainedUnits: toUnits(intent, 5),
    totalUnits: toUnits(intent, 25),
  });
  const late = snapshot.deposits.find((deposit) => deposit.txHash === txHash)?.late;
  return {
    intentId: intent.intentId,
    checks: [
      ...balanceChecks,
      compareTexts("the last deposit is marked late", "true", String(late)),
      ...checkState(snapshot.intent, "settled", "overpaid"),
    ],
  };
}

async function payOnAnotherChain(context: DemoContext): Promise<ScenarioResult> {
  const intent = await createIntent(context, oneTimeIntent(15, "demo: paid on another chain"));
  const before = await readBalances(context, intent);
  await waitUntilCounted(context, intent, await payOnOtherChain(context, intent, 15));
  const snapshot = await waitUntilSettled(context, intent);
  const paid = toUnits(intent, 15);
  // Blocks of the dev world are final so soon that the bridge is free.
  const balanceChecks = await checkBalances(context, snapshot, { before, gainedUnits: paid, totalUnits: paid });
  const chains = snapshot.settlements.flatMap(({ txs }) => txs.map(({ chain }) => chain));
  return {
    intentId: intent.intentId,
    checks: [
      ...balanceChecks,
      compareTexts("its settlement has transactions on", "2 chains", `${new Set(chains).size} chains`),
      ...checkState(snapshot.intent, "settled", "paid"),
    ],
  };
}

async function payOnSolana(context: DemoContext): Promise<ScenarioResult> {
  const { solana } = context;
  if (solana === undefined) throw new CommandError("Only the dev world has a payer on Solana.");
  const onSolana = { ...context, payer: solana.payer };
  const intent = await createIntent(onSolana, {
    ...oneTimeIntent(12, "demo: paid on Solana"),
    ...payoutOnSolana(solana),
  });
  const before = await readBalances(onSolana, intent);
  const paymentTx = await payIntent(onSolana, intent, 12);
  await waitUntilCounted(onSolana, intent, paymentTx);
  const snapshot = await waitUntilSettled(onSolana, intent);
  const paid = toUnits(intent, 12);
  const balanceChecks = await checkBalances(onSolana, snapshot, { before, gainedUnits: paid, totalUnits: paid });
  return {
    intentId: intent.intentId,
    checks: [
      checkSolanaInbox(intent, solana),
      ...balanceChecks,
      await checkRent(snapshot, solana.payer, paymentTx),
      ...checkState(snapshot.intent, "settled", "paid"),
    ],
  };
}

function payoutOnSolana({ payer, payoutWallet }: NonNullable<DemoContext["solana"]>) {
  const payoutChainReference = referenceOf(payer.caip2);
  return { payoutNamespace: "solana" as const, payoutChainReference, payoutWallet };
}

async function payToSolana(context: DemoContext): Promise<ScenarioResult> {
  const { solana } = context;
  if (solana === undefined) throw new CommandError("Only the dev world has a payer on Solana.");
  const onSolana = { ...context, payer: solana.payer };
  const intent = await createIntent(onSolana, { ...oneTimeIntent(16, "demo: to Solana"), ...payoutOnSolana(solana) });
  const before = await readBalances(onSolana, intent);
  const paymentTx = await payFromEvmInbox(context, intent, 16);
  await waitUntilCounted(onSolana, intent, paymentTx);
  const snapshot = await waitUntilSettled(onSolana, intent);
  const paid = toUnits(intent, 16);
  // Blocks of the dev world are final so soon that the bridge is free.
  const balanceChecks = await checkBalances(onSolana, snapshot, { before, gainedUnits: paid, totalUnits: paid });
  const kinds = snapshot.settlements.flatMap(({ txs }) => txs.map(({ chain }) => namespaceOf(chain as Caip2)));
  return {
    intentId: intent.intentId,
    checks: [
      ...balanceChecks,
      compareTexts("its settlement has transactions on", "eip155, solana", kinds.join(", ")),
      ...checkState(snapshot.intent, "settled", "paid"),
    ],
  };
}

async function payFromSolana(context: DemoContext): Promise<ScenarioResult> {
  const intent = await createIntent(context, oneTimeIntent(14, "demo: from Solana"));
  const before = await readBalances(context, intent);
  const paymentTx = await payFromSolanaInbox(context, intent, 14);
  await waitUntilCounted(context, intent, paymentTx);
  const snapshot = await waitUntilSettled(context, intent);
  const paid = toUnits(intent, 14);
  // Blocks of the dev world are final so soon that the bridge is free.
  const balanceChecks = await checkBalances(context, snapshot, { before, gainedUnits: paid, totalUnits: paid });
  const kinds = snapshot.settlements.flatMap(({ txs }) => txs.map(({ chain }) => namespaceOf(chain as Caip2)));
  return {
    intentId: intent.intentId,
    checks: [
      ...balanceChecks,
      compareTexts("its settlement has transactions on", "solana, eip155", kinds.join(", ")),
      ...checkState(snapshot.intent, "settled", "paid"),
    ],
  };
}

function checkState(intent: DemoIntent, status: string, paymentStatus: string): Check[] {
  return [compareTexts("the intent is", `${status}, ${paymentStatus}`, `${intent.status}, ${intent.paymentStatus}`)];
}
