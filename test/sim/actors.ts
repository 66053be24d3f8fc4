import { computeInboxAddress } from "@tributary/inbox/address";
import { hubAddress } from "@tributary/inbox/hub";
import { hubAbi } from "@tributary/inbox/hubAbi";
import { settleItemGas } from "@tributary/inbox/hubs";
import { encodeFunctionData } from "viem";
import { issueSourceInbox } from "../../src/inbox/issueSourceInbox.ts";
import { archiveIntent } from "../../src/intent/archiveIntent.ts";
import { createIntent, type CreateIntentInput } from "../../src/intent/createIntent.ts";
import type { IntentRow } from "../../src/intent/store.ts";
import { toInboxTerms } from "../../src/intent/inboxTerms.ts";
import { Fault } from "../../src/kernel/faults.ts";
import { createAccount } from "../../src/merchant/createAccount.ts";
import type { AccountRow } from "../../src/merchant/store.ts";
import { registerView } from "../../src/view/registerView.ts";
import type { World } from "../../src/world.ts";
import { BridgeActors } from "./bridge/bridgeActors.ts";
import { tokenCalls } from "./chain/token.ts";
import type { CreatePlan, PaymentPlan } from "./plan.ts";
import type { SeededRandom } from "./seededRandom.ts";
import { WatchfulPayers } from "./watchfulPayers.ts";
import {
  addressOf,
  FEE_RECIPIENT,
  payerAddress,
  type RunningProcess,
  type SimChain,
  type SimWorld,
  type TrackedIntent,
} from "./simWorld.ts";

// Merchants create, read and archive intents. Payers pay the price or something else. Strangers sweep.

/** One create as its merchant sees it. */
export type CreateCall = {
  startedMs: number;
  /** Undefined when no answer arrived. The create may still have succeeded. */
  response: { endedMs: number; intentId: string; widgetToken: string; isCreated: boolean } | undefined;
  /** Identifies the possible intents: merchant, destination and terms. */
  key: string;
};

const RETRY_MS = 3_000;
const NO_RESPONSE = Symbol("no answer");
const FIRST_WALLET = 0xb00;
export class Actors {
  readonly creates: CreateCall[] = [];
  readonly intents = new Map<string, TrackedIntent>();
  /** The number of actions that are not finished. */
  pendingActions = 0;
  paymentCount = 0;
  readonly #simWorld: SimWorld;
  readonly #random: SeededRandom;
  readonly #accounts: AccountRow[] = [];
  readonly #bridgeActors: BridgeActors;
  readonly #watchfulPayers: WatchfulPayers;

  constructor(simWorld: SimWorld, random: SeededRandom) {
    this.#simWorld = simWorld;
    this.#random = random;
    this.#bridgeActors = new BridgeActors(simWorld, random.derive("bridge"), (durationMs) => this.#sleep(durationMs));
    this.#watchfulPayers = new WatchfulPayers(simWorld, {
      request: (work) => this.#request(work),
      sleep: (durationMs) => this.#sleep(durationMs),
      pay: (known, units, random) => {
        const { payout_token: token, inbox_address: to } = known.row;
        this.#transfer(known.chain, random, { token, to, units });
      },
      payAcross: (known, units, random) => this.#bridgeActors.payAcross(known, units, { isTwice: false, random }),
    });
  }

  /** The intents whose page asked a payer for an amount that he then paid. */
  get asked(): ReadonlySet<string> {
    return this.#watchfulPayers.asked;
  }

  get bridge(): BridgeActors {
    return this.#bridgeActors;
  }

  /** Counts the work as pending until it is done. */
  perform(work: () => Promise<void>): void {
    this.#schedule(0, work);
  }

  /** Creates the merchants' accounts before any fault. */
  async createAccounts(world: World): Promise<void> {
    for (const [index, merchant] of this.#simWorld.parts.plan.merchants.entries()) {
      const payout = {
        namespace: "eip155",
        chainReference: String(this.#simWorld.chains[0]?.plan.chainId),
        wallet: this.walletOf(index, 0),
        currency: "USDC",
      } as const;
      const account = await createAccount(world, { name: `Merchant ${index}`, payout, ...merchant });
      this.#accounts.push(account);
      await this.#simWorld.endpoints?.add(world, account.id);
    }
  }

  walletOf(merchant: number, wallet: number): string {
    return addressOf(FIRST_WALLET + merchant * 16 + wallet);
  }

  start(): void {
    const { plan } = this.#simWorld.parts;
    for (const create of plan.creates) {
      for (let copy = 0; copy < create.copies; copy += 1) {
        this.#schedule(create.atMs, () => this.#create(create, this.#random.derive(`${create.name} ${copy}`)));
      }
    }
    for (let stranger = 0; stranger < (plan.bridge?.strangers ?? 0); stranger += 1) {
      const delayMs = this.#random.derive(`bridge ${stranger}`).between(0, plan.chaosMs);
      this.#schedule(delayMs, () => this.#bridgeActors.interfere(() => [...this.intents.values()]));
    }
    for (let stranger = 0; stranger < plan.strangers; stranger += 1) {
      this.#schedule(this.#random.between(0, plan.chaosMs), async () => this.#settleAsStranger());
    }
  }

  async #create(plan: CreatePlan, random: SeededRandom): Promise<void> {
    const account = this.#accounts[plan.merchant];
    const chain = this.#simWorld.chains[plan.chain];
    const token = chain?.tokens.filter(({ isRail }) => isRail)[plan.rail];
    if (!account || !chain || !token) return;
    const input: CreateIntentInput = {
      priceUnits: plan.priceUnits,
      oneTime: plan.oneTime,
      merchantReference: plan.name,
      ...(plan.wallet === undefined
        ? {}
        : {
            payoutChainReference: String(chain.plan.chainId),
            payoutWallet: this.walletOf(plan.merchant, plan.wallet),
            payoutTokenAddress: token.address,
          }),
    };
    const key = plan.wallet === undefined ? `${plan.name} ${random.number()}` : JSON.stringify([account.id, input]);
    const created = await this.#request((world) => {
      const call: CreateCall = { startedMs: this.#nowMs, response: undefined, key };
      this.creates.push(call);
      return createIntent(world.db.root, world, { account, input }).then((answer) => {
        const { intent, widgetToken, isCreated } = answer;
        call.response = { endedMs: this.#nowMs, intentId: intent.id, widgetToken, isCreated };
        return answer;
      });
    });
    if (created === undefined) return;
    this.#verifyCreated(created.intent, plan, input);
    await this.#viewCheckout(created.intent, plan);
    if (created.isCreated) this.#schedulePayments(created.intent, plan);
  }

  /** Merchants check a created intent before they show it to payers. */
  #verifyCreated(row: IntentRow, plan: CreatePlan, input: CreateIntentInput): void {
    const { violate, trace } = this.#simWorld.parts;
    const reference = input.payoutChainReference ?? String(this.#simWorld.chains[0]?.plan.chainId);
    const chain = this.#simWorld.chains.find((one) => String(one.plan.chainId) === reference);
    if (!chain) return;
    const wallet = input.payoutWallet ?? this.walletOf(plan.merchant, 0);
    const terms = { ...toInboxTerms(row), payout: wallet as `0x${string}`, feeRecipient: FEE_RECIPIENT };
    if (row.fee_bps !== this.#simWorld.parts.plan.merchants[plan.merchant]?.feeBps)
      violate("an inbox takes a different fee than its merchant agreed to", row.id);
    if (row.payout_wallet !== wallet || computeInboxAddress(terms) !== row.inbox_address)
      violate("an inbox pays another wallet than its merchant's", row.id);
    if (row.status !== "active") violate("a create returned an inactive intent", row.id);
    const hasRequestedTerms = row.one_time === plan.oneTime && row.price_units === toBigint(plan.priceUnits);
    if (!hasRequestedTerms) violate("a create returned an intent with other terms", row.id);
    this.intents.set(row.id, { row, chain, plan: this.intents.get(row.id)?.plan ?? plan });
    trace.append(plan.name, `has ${row.id.slice(0, 8)} at ${row.inbox_address.slice(0, 8)}`);
  }

  async #viewCheckout(intent: IntentRow, plan: CreatePlan): Promise<void> {
    if (!plan.isViewed) return;
    const chainId = Number(intent.payout_chain_reference);
    await this.#request(async (world) => {
      await issueSourceInbox(world, intent, { chainId });
      const selection = { namespace: "eip155", reference: String(chainId), tokenAddress: intent.payout_token };
      await registerView(world, intent, selection);
    });
  }

  #schedulePayments(intent: IntentRow, plan: CreatePlan): void {
    for (const payment of plan.payments) {
      const random = this.#random.derive(payment.name);
      this.#schedule(payment.afterMs, () => this.#pay(intent, payment, random));
    }
    if (plan.archiveAfterMs === undefined) return;
    this.#schedule(plan.archiveAfterMs, async () => {
      await this.#request((world) => world.db.transaction((tx) => archiveIntent(tx, world, intent.id)));
    });
  }

  async #pay(intent: IntentRow, payment: PaymentPlan, random: SeededRandom): Promise<void> {
    const known = this.intents.get(intent.id);
    if (!known) return;
    const unit = 10n ** BigInt(intent.payout_decimals);
    const units = intent.price_token_units ?? BigInt(random.between(1, 30)) * unit;
    const to = intent.inbox_address;
    const pay = (amount: bigint, token = intent.payout_token) =>
      this.#transfer(known.chain, random, { token, to, units: amount });
    this.#simWorld.parts.trace.append(payment.name, `pays ${payment.kind} of ${units} to ${to.slice(0, 8)}`);
    switch (payment.kind) {
      case "right":
        return pay(units);
      case "under":
        return pay((units * BigInt(random.between(10, 99))) / 100n);
      case "over":
        return pay((units * BigInt(random.between(101, 250))) / 100n);
      case "across":
      case "acrossTwice":
        this.paymentCount += 1;
        return this.#bridgeActors.payAcross(known, units, { isTwice: payment.kind === "acrossTwice", random });
      case "ownBridge":
        this.paymentCount += 1;
        return this.#bridgeActors.payByOwnBridge(known, units, random);
      case "asked":
      case "dustThenAsked":
        if (payment.kind === "dustThenAsked") pay(intent.minimum_units / 2n + 1n);
        return this.#watchfulPayers.payAsked(known, random);
      case "settledBetween":
        return this.#watchfulPayers.settleBetween(known, units);
      case "instalments":
        this.paymentCount += 2;
        return this.#watchfulPayers.payInstalments(known, random);
      case "late":
        await this.#sleep(this.#simWorld.parts.plan.chaosMs * random.number());
        return pay(units);
      case "split":
      case "many": {
        const parts = BigInt(payment.kind === "split" ? 2 : random.between(3, 8));
        for (let part = 1n; part < parts; part += 1n) {
          pay(units / parts);
          await this.#sleep(random.between(0, 30_000));
        }
        return pay(units - (units / parts) * (parts - 1n));
      }
      case "dust":
        return random.chance(0.5) ? pay(BigInt(random.between(1, 100))) : this.#flood(intent, known.chain, random);
      default:
        return this.#payIrregularly(known, payment.kind, { random, units });
    }
  }

  /** Sends many tiny transfers in one transaction. In about half of the cases their sum reaches the minimum. */
  #flood(intent: IntentRow, chain: SimChain, random: SeededRandom): void {
    const count = random.between(20, 120);
    const units =
      intent.minimum_units > 0n ? (intent.minimum_units * 2n) / BigInt(random.between(count, 3 * count)) : 7n;
    const data = tokenCalls.transfer(intent.inbox_address, units);
    const calls = Array.from({ length: count }, () => ({ to: intent.payout_token, data }));
    this.#countPayment(chain.chain.send({ from: payerAddress(random.between(0, 11)), calls }));
  }

  #payIrregularly(
    known: TrackedIntent,
    kind: PaymentPlan["kind"],
    { random, units }: { random: SeededRandom; units: bigint },
  ): void {
    const { chain, row } = known;
    const { inbox_address: to, payout_token: token } = row;
    const call = (contract: string, amount: bigint, address = to) => ({
      to: contract,
      data: tokenCalls.transfer(address, amount),
    });
    const from = payerAddress(random.between(0, 11));
    const other = [...this.intents.values()].find((one) => one.chain === chain && one.row.id !== row.id)?.row ?? row;
    const taxed = chain.tokens.find(({ kind: of }) => of === "taxed")?.address ?? token;
    const stranger = addressOf(0x5174);
    const send = (request: Parameters<typeof chain.chain.send>[0]) => this.#countPayment(chain.chain.send(request));
    switch (kind) {
      case "together":
        return send({
          from,
          calls: [
            call(token, 3n, stranger),
            call(token, units / 2n),
            call(taxed, 700n),
            call(token, units - units / 2n),
            call(other.payout_token, 12_345n, other.inbox_address),
          ],
        });
      case "wrongToken":
        return this.#transfer(chain, random, {
          token: random.chance(0.5) ? taxed : otherRail(chain, token),
          to,
          units,
        });
      case "fakeToken":
        return this.#transfer(chain, random, {
          token: chain.tokens.find((one) => one.isUnconfigured)?.address ?? token,
          to,
          units,
        });
      case "wrongChain": {
        const elsewhere = this.#simWorld.chains.find((one) => one !== chain) ?? chain;
        const [first] = elsewhere.tokens;
        return this.#transfer(elsewhere, random, { token: first?.address ?? token, to, units });
      }
      case "reverted":
        return send({ from, calls: [call(token, units)], reverts: true });
      case "refused":
        return send({ from: addressOf(0x9009), calls: [call(token, units)] });
      case "fickle":
        // A contract that pays another inbox, or in another token, when its block is replaced by one of the other
        // parity.
        return send({
          from,
          calls: [call(token, units)],
          oddBlockCalls: random.chance(0.5)
            ? [call(taxed, 999n)]
            : [call(other.payout_token, 777n, other.inbox_address)],
        });
      default:
        throw new Error(`unknown kind of payment: ${kind}`);
    }
  }

  #transfer(
    chain: SimChain,
    random: SeededRandom,
    { token, to, units }: { token: string; to: string; units: bigint },
  ): void {
    this.#countPayment(chain.chain.pay({ token, from: payerAddress(random.between(0, 11)), to, units }));
  }

  #countPayment(_chainTx: string): void {
    this.paymentCount += 1;
  }

  /** Settles somebody else's inbox, which every account may do: alone, or as a netted batch of one. */
  #settleAsStranger(): void {
    const known = this.#random.pick([...this.intents.values()]);
    if (!known) return;
    const terms = toInboxTerms(known.row);
    const data =
      known.row.seq % 2n === 0n
        ? encodeFunctionData({ abi: hubAbi, functionName: "settle", args: [terms] })
        : encodeFunctionData({ abi: hubAbi, functionName: "settleNetted", args: [terms, [terms.salt], settleItemGas] });
    known.chain.chain.send({ from: addressOf(0x57a), calls: [{ to: hubAddress, data }] });
    this.#simWorld.parts.trace.append("stranger", `sweeps ${known.row.id.slice(0, 8)}`);
  }

  /** Sends a request to a running process, and again after a failure. Returns undefined when the service refuses it. */
  async #request<T>(work: (world: World) => Promise<T>): Promise<T | undefined> {
    for (;;) {
      const running = this.#random.pick(this.#simWorld.running);
      const answer = running === undefined ? NO_RESPONSE : await this.#callProcess(running, work);
      if (answer !== NO_RESPONSE) return answer;
      await this.#sleep(RETRY_MS);
    }
  }

  async #callProcess<T>(
    { process, world }: RunningProcess,
    work: (world: World) => Promise<T>,
  ): Promise<T | undefined | typeof NO_RESPONSE> {
    try {
      await process.wait(1);
      return await work(world);
    } catch (error) {
      if (!(error instanceof Fault) || error.code === "internal_error") return NO_RESPONSE;
      this.#simWorld.parts.trace.append("merchant", `receives ${error.code}`);
      return undefined;
    }
  }

  get #nowMs(): number {
    return this.#simWorld.parts.scheduler.nowMs;
  }

  #sleep(durationMs: number): Promise<void> {
    return new Promise((resolve) => this.#simWorld.parts.scheduler.after(durationMs, resolve));
  }

  #schedule(delayMs: number, work: () => Promise<void>): void {
    this.pendingActions += 1;
    const { scheduler, violate } = this.#simWorld.parts;
    scheduler.after(delayMs, () => {
      work().then(
        () => (this.pendingActions -= 1),
        (error: unknown) =>
          violate("the simulation itself failed", error instanceof Error ? (error.stack ?? "") : String(error)),
      );
    });
  }
}

function otherRail(chain: SimChain, token: string): string {
  return chain.tokens.find(({ isRail, address }) => isRail && address !== token)?.address ?? token;
}

function toBigint(value: number | null): bigint | null {
  return value === null ? null : BigInt(value);
}
