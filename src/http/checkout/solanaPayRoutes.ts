import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import {
  holdsUnits,
  isWalletAddress,
  preparePayment,
  type PaymentRequest,
} from "../../chain/solana/paymentTransaction.ts";
import { ProviderFailed } from "../../chain/reader.ts";
import { payoutChain } from "../../intent/payoutAsset.ts";
import { findIntentRoutes } from "../../intent/routes/findRoutes.ts";
import { hopsOf } from "../../intent/routes/routeSet.ts";
import { findIntentById, type IntentRow } from "../../intent/store.ts";
import { assert } from "../../kernel/assert.ts";
import { caip19, type Caip2 } from "../../kernel/caip.ts";
import { Fault } from "../../kernel/faults.ts";
import { formatUnits } from "../../kernel/units.ts";
import type { World } from "../../world.ts";
import { parseJsonBody } from "../checks/parseJsonBody.ts";
import { readBody } from "../checks/readBody.ts";
import type { CheckoutContext } from "./checkoutContext.ts";
import type { CheckoutState } from "@tributary/checkout/checkoutState";
import { PAY_ICON_NAME } from "./page/renderPage.ts";
import { CHECKOUT_PATH } from "./pageRoutes.ts";
import { setPrivate, visitorKey } from "./session/publicLimits.ts";
import type { CheckoutRequest } from "./session/requireSession.ts";
import { readState } from "./state/readState.ts";

const BODY_BYTES_MAX = 4_096;
/** Of a token on Solana. */
const UNITS_MAX = 2n ** 64n - 1n;
/** Wallets in a browser ask from pages of any origin. No answer depends on a cookie. */
const CORS = {
  "access-control-allow-origin": "*",
  "access-control-allow-methods": "GET, POST, OPTIONS",
  // The fetch of @solana/pay sends Cache-Control.
  "access-control-allow-headers": "Content-Type, Content-Encoding, Accept-Encoding, Cache-Control",
  "access-control-max-age": "86400",
};

/**
 * Adds the transaction request of Solana Pay. A wallet that scans the page's code reads who asks (GET), names its
 * account (POST), and gets a transaction that pays what is left. It has no session: the intent's id is all that it
 * knows.
 */
export function addSolanaPayRoutes(server: FastifyInstance, context: CheckoutContext): void {
  const url = `${CHECKOUT_PATH}/solana-pay`;
  server.options(url, (_request, reply) => reply.headers(CORS).code(204).send());
  server.get(url, async (request, reply) => {
    const payment = await openPayment(context, request, reply);
    return reply.send(describePayment(context.world, payment));
  });
  server.route({
    method: "POST",
    url,
    // Reads the body here, as the API does, because the framework would apply its own rules to it.
    onRequest: async (request, reply) => {
      const payment = await openPayment(context, request, reply);
      const body = parseJsonBody(request.raw, await readBody(request.raw, BODY_BYTES_MAX));
      return reply.send(await answerWallet(context, payment, readAccount(body)));
    },
    handler: () => undefined,
  });
}

/** Where the transaction goes: the intent's own inbox, or the one that crosses to it. */
type Target = Pick<PaymentRequest, "inbox" | "mint" | "tokenProgram" | "decimals"> & { chain: Caip2 };

type Payment = {
  intent: IntentRow;
  state: CheckoutState;
  target: Target;
  /** What is left to pay, else what the request names; undefined where neither does. */
  units: bigint | undefined;
};

/** Throws not_found for an unknown or archived intent, and for one that is not paid on Solana. */
async function openPayment(context: CheckoutContext, request: FastifyRequest, reply: FastifyReply): Promise<Payment> {
  const { intentId } = (request as CheckoutRequest).params;
  setPrivate(reply).headers(CORS);
  await context.limits.acquire("solanaPay", request, visitorKey(request, intentId));
  const intent = await findIntentById(context.world.db, intentId);
  const isPayable = intent !== undefined && intent.status !== "archived";
  const state = isPayable ? await readState(context.world, intentId) : undefined;
  const target = isPayable && state !== undefined ? await findTarget(context, intent, state) : undefined;
  if (!isPayable || state === undefined || target === undefined)
    throw new Fault("not_found", { message: "No such intent." });
  const { remainingUnits } = state;
  return { intent, state, target, units: remainingUnits === null ? readUnits(request) : BigInt(remainingUnits) };
}

/**
 * Undefined for an intent without an inbox on Solana. A bridge gives as many units as it takes, so all amounts are
 * those of the payout.
 */
async function findTarget(
  { world }: CheckoutContext,
  intent: IntentRow,
  { inboxes }: CheckoutState,
): Promise<Target | undefined> {
  const {
    inbox_address: inbox,
    payout_token: mint,
    inbox_implementation: tokenProgram,
    payout_decimals: decimals,
  } = intent;
  const chain = payoutChain(intent);
  if (intent.payout_namespace === "solana") return { chain, inbox, mint, tokenProgram, decimals };
  const issued = inboxes.find(({ namespace }) => namespace === "solana");
  if (issued === undefined) return undefined;
  const routes = await findIntentRoutes({ db: world.db.root, memory: world.memory }, intent);
  const hop = hopsOf(routes).find((each) => issued.originIds.includes(caip19(each.chain, each.mint)));
  return hop && { chain: hop.chain, inbox: issued.address, mint: hop.mint, tokenProgram: hop.tokenProgram, decimals };
}

/** The amount of a payment without a price, in the token's smallest units. Throws invalid_request. */
function readUnits(request: FastifyRequest): bigint | undefined {
  const { units } = request.query as { units?: unknown };
  if (units === undefined) return undefined;
  const isAmount = typeof units === "string" && /^[1-9]\d{0,19}$/.test(units) && BigInt(units) <= UNITS_MAX;
  if (!isAmount)
    throw new Fault("invalid_request", { param: "units", message: "units must be a whole number above 0." });
  return BigInt(units);
}

function describePayment({ config }: Pick<World, "config">, { state }: Payment): { label: string; icon: string } {
  const { intentId, merchant } = state;
  return { label: merchant.name, icon: `${config.baseUrl}${merchant.logo ?? `/c/${intentId}/${PAY_ICON_NAME}`}` };
}

async function answerWallet(
  { world: { chains }, payerQuestions }: CheckoutContext,
  { intent, state, target, units }: Payment,
  payer: string,
): Promise<{ transaction: string; message: string }> {
  const { symbol, merchant } = state;
  if (units === undefined)
    throw new Fault("invalid_request", {
      param: "units",
      message: "This payment has no price: name an amount in units, or send one to its address.",
    });
  if (intent.status !== "active" || units === 0n)
    throw new Fault("source_inbox_not_active", { message: "Nothing is left to pay." });
  const chain = chains.get(target.chain);
  assert(chain, `the chain of ${intent.id} is not configured`);
  const { inbox, mint, tokenProgram, decimals } = target;
  const payment: PaymentRequest = { payer, inbox, mint, tokenProgram, units, decimals };
  const { caip2, providers, payerReader: reader = providers } = chain;
  const head = payerQuestions.head(caip2, reader);
  const [isHeld, transaction] = await Promise.all([
    payerQuestions.mayLook(caip2) ? holdsUnits(reader, payment) : true,
    preparePayment({ head: () => head }, payment),
  ]).catch(throwUnavailable);
  if (!isHeld)
    throw new Fault("invalid_request", { param: "account", message: `This wallet holds too little ${symbol}.` });
  return {
    transaction: Buffer.from(transaction).toString("base64"),
    message: `${merchant.name}: ${formatUnits(units, intent.payout_decimals)} ${symbol}`,
  };
}

/** A wallet repeats a 503, and shows a 500 as the service's fault. */
function throwUnavailable(error: unknown): never {
  if (!(error instanceof ProviderFailed)) throw error;
  throw new Fault("source_inbox_unavailable", { message: "The chain's providers do not answer.", cause: error });
}

/** Other fields are ignored, as the specification leaves room for them. */
function readAccount(body: unknown): string {
  const { account } = (body ?? {}) as { account?: unknown };
  if (!isWalletAddress(account))
    throw new Fault("invalid_request", { param: "account", message: "account must be a wallet's address in base58." });
  return account;
}
