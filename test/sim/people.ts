import { inboxAddress } from "@tributary/inbox/address";
import { hubAddress } from "@tributary/inbox/hub";
import { hubAbi } from "@tributary/inbox/hubAbi";
import { encodeFunctionData } from "viem";
import { issueSourceInbox } from "../../src/inbox/issueSourceInbox.ts";
import { archiveIntent } from "../../src/intent/archiveIntent.ts";
import { createIntent, type CreateIntentInput } from "../../src/intent/createIntent.ts";
import type { IntentRow } from "../../src/intent/store.ts";
import { inboxTermsOf } from "../../src/intent/terms.ts";
import { Fault } from "../../src/kernel/faults.ts";
import { createAccount } from "../../src/merchant/createAccount.ts";
import type { AccountRow } from "../../src/merchant/store.ts";
import { recordView } from "../../src/view/recordView.ts";
import type { World } from "../../src/world.ts";
import { tokenCalls } from "./chain/token.ts";
import type { CreatePlan, PaymentPlan } from "./plan.ts";
import type { Random } from "./random.ts";
import { addressOf, FEE_RECIPIENT, payerAddress, type Running, type SimChain, type Site } from "./site.ts";

// Merchants who create, look and put away; payers who pay what they were asked for, or something else; strangers who sweep.

/** One create as its merchant saw it. */
export type CreateCall = {
  startedMs: number;
  /** Undefined when no answer came: it may have happened all the same. */
  answer: { endedMs: number; intentId: string; widgetToken: string; isCreated: boolean } | undefined;
  /** What intents it may have meant: merchant, destination and terms. */
  key: string;
};

export type KnownIntent = { row: IntentRow; chain: SimChain; plan: CreatePlan };

const RETRY_MS = 3_000;
const NO_ANSWER = Symbol("no answer");
const UNUSUAL_WALLETS = 0xb00;

export class People {
  readonly creates: CreateCall[] = [];
  readonly intents = new Map<string, KnownIntent>();
  /** What is still to be done by somebody. */
  busy = 0;
  payments = 0;
  readonly #site: Site;
  readonly #random: Random;
  readonly #accounts: AccountRow[] = [];

  constructor(site: Site, random: Random) {
    this.#site = site;
    this.#random = random;
  }

  /** Makes the merchants' accounts, before anything can go wrong. */
  async open(world: World): Promise<void> {
    for (const [index, merchant] of this.#site.parts.plan.merchants.entries()) {
      const payout = {
        namespace: "eip155",
        chainReference: String(this.#site.chains[0]?.plan.chainId),
        wallet: this.walletOf(index, 0),
        currency: "USDC",
      } as const;
      this.#accounts.push(await createAccount(world, { name: `Merchant ${index}`, payout, ...merchant }));
    }
  }

  walletOf(merchant: number, wallet: number): string {
    return addressOf(UNUSUAL_WALLETS + merchant * 16 + wallet);
  }

  begin(): void {
    const { plan } = this.#site.parts;
    for (const create of plan.creates) {
      for (let copy = 0; copy < create.copies; copy += 1) {
        this.#do(create.atMs, () => this.#create(create, this.#random.of(`${create.name} ${copy}`)));
      }
    }
    for (let stranger = 0; stranger < plan.strangers; stranger += 1) {
      this.#do(this.#random.between(0, plan.chaosMs), async () => this.#sweep());
    }
  }

  async #create(plan: CreatePlan, random: Random): Promise<void> {
    const account = this.#accounts[plan.merchant];
    const chain = this.#site.chains[plan.chain];
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
      const call: CreateCall = { startedMs: this.#nowMs, answer: undefined, key };
      this.creates.push(call);
      return createIntent(world.db.read, world, { account, input }).then((answer) => {
        const { intent, widgetToken, isCreated } = answer;
        call.answer = { endedMs: this.#nowMs, intentId: intent.id, widgetToken, isCreated };
        return answer;
      });
    });
    if (created === undefined) return;
    this.#take(created.intent, plan, input);
    await this.#look(created.intent, plan);
    if (created.isCreated) this.#follow(created.intent, plan);
  }

  /** A merchant checks what it was given before it shows it to anybody. */
  #take(row: IntentRow, plan: CreatePlan, input: CreateIntentInput): void {
    const { violate, trace } = this.#site.parts;
    const reference = input.payoutChainReference ?? String(this.#site.chains[0]?.plan.chainId);
    const chain = this.#site.chains.find((one) => String(one.plan.chainId) === reference);
    if (!chain) return;
    const wallet = input.payoutWallet ?? this.walletOf(plan.merchant, 0);
    const terms = { ...inboxTermsOf(row), payout: wallet as `0x${string}`, feeRecipient: FEE_RECIPIENT };
    if (row.fee_bps !== this.#site.parts.plan.merchants[plan.merchant]?.feeBps)
      violate("an inbox takes another fee than its merchant agreed to", row.id);
    if (row.payout_wallet !== wallet || inboxAddress(terms) !== row.inbox_address)
      violate("an inbox pays somebody else than its merchant", row.id);
    if (row.status !== "active") violate("a create returned an intent that is not active", row.id);
    const isAsAsked = row.one_time === plan.oneTime && row.price_units === toBigint(plan.priceUnits);
    if (!isAsAsked) violate("a create returned an intent with other terms", row.id);
    this.intents.set(row.id, { row, chain, plan: this.intents.get(row.id)?.plan ?? plan });
    trace.say(plan.name, `has ${row.id.slice(0, 8)} at ${row.inbox_address.slice(0, 8)}`);
  }

  async #look(intent: IntentRow, plan: CreatePlan): Promise<void> {
    if (!plan.isViewed) return;
    const chainId = Number(intent.payout_chain_reference);
    await this.#request(async (world) => {
      await issueSourceInbox(world, intent, { chainId });
      const selection = { namespace: "eip155", reference: String(chainId), tokenAddress: intent.payout_token };
      await recordView(world, intent, selection);
    });
  }

  #follow(intent: IntentRow, plan: CreatePlan): void {
    for (const payment of plan.payments) {
      const random = this.#random.of(payment.name);
      this.#do(payment.afterMs, () => this.#pay(intent, payment, random));
    }
    if (plan.archiveAfterMs === undefined) return;
    this.#do(plan.archiveAfterMs, async () => {
      await this.#request((world) => world.db.transaction((tx) => archiveIntent(tx, world, intent.id)));
    });
  }

  async #pay(intent: IntentRow, payment: PaymentPlan, random: Random): Promise<void> {
    const known = this.intents.get(intent.id);
    if (!known) return;
    const unit = 10n ** BigInt(intent.payout_decimals);
    const units = intent.price_token_units ?? BigInt(random.between(1, 30)) * unit;
    const to = intent.inbox_address;
    const pay = (amount: bigint, token = intent.payout_token) =>
      this.#transfer(known.chain, random, { token, to, units: amount });
    this.#site.parts.trace.say(payment.name, `pays ${payment.kind} of ${units} to ${to.slice(0, 8)}`);
    switch (payment.kind) {
      case "right":
        return pay(units);
      case "under":
        return pay((units * BigInt(random.between(10, 99))) / 100n);
      case "over":
        return pay((units * BigInt(random.between(101, 250))) / 100n);
      case "late":
        await this.#sleep(this.#site.parts.plan.chaosMs * random.number());
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
        return pay(BigInt(random.between(1, 100)));
      default:
        return this.#payOddly(known, payment.kind, { random, units });
    }
  }

  #payOddly(known: KnownIntent, kind: PaymentPlan["kind"], { random, units }: { random: Random; units: bigint }): void {
    const { chain, row } = known;
    const { inbox_address: to, payout_token: token } = row;
    const call = (of: string, amount: bigint, address = to) => ({ to: of, data: tokenCalls.transfer(address, amount) });
    const from = payerAddress(random.between(0, 11));
    const other = [...this.intents.values()].find((one) => one.chain === chain && one.row.id !== row.id)?.row ?? row;
    const taxed = chain.tokens.find(({ kind: of }) => of === "taxed")?.address ?? token;
    const stranger = addressOf(0x5174);
    const send = (sending: Parameters<typeof chain.chain.send>[0]) => this.#count(chain.chain.send(sending));
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
          token: chain.tokens.find((one) => one.isFake)?.address ?? token,
          to,
          units,
        });
      case "wrongChain": {
        const elsewhere = this.#site.chains.find((one) => one !== chain) ?? chain;
        const [first] = elsewhere.tokens;
        return this.#transfer(elsewhere, random, { token: first?.address ?? token, to, units });
      }
      case "reverted":
        return send({ from, calls: [call(token, units)], reverts: true });
      case "refused":
        return send({ from: addressOf(0x9009), calls: [call(token, units)] });
      case "fickle":
        // A contract that pays somebody else, or in another token, when its block is replaced by one of another parity.
        return send({
          from,
          calls: [call(token, units)],
          oddCalls: random.chance(0.5) ? [call(taxed, 999n)] : [call(other.payout_token, 777n, other.inbox_address)],
        });
      default:
        throw new Error(`nobody knows how to pay ${kind}`);
    }
  }

  #transfer(chain: SimChain, random: Random, { token, to, units }: { token: string; to: string; units: bigint }): void {
    this.#count(chain.chain.pay({ token, from: payerAddress(random.between(0, 11)), to, units }));
  }

  #count(_chainTx: string): void {
    this.payments += 1;
  }

  /** Somebody who settles what is not his, as anybody may. */
  #sweep(): void {
    const known = this.#random.pick([...this.intents.values()]);
    if (!known) return;
    const data = encodeFunctionData({ abi: hubAbi, functionName: "settle", args: [inboxTermsOf(known.row)] });
    known.chain.chain.send({ from: addressOf(0x57a), calls: [{ to: hubAddress, data }] });
    this.#site.parts.trace.say("stranger", `sweeps ${known.row.id.slice(0, 8)}`);
  }

  /** Asks a running process; again when it does not answer. Undefined when it refuses. */
  async #request<T>(work: (world: World) => Promise<T>): Promise<T | undefined> {
    for (;;) {
      const running = this.#random.pick(this.#site.running);
      const answer = running === undefined ? NO_ANSWER : await this.#ask(running, work);
      if (answer !== NO_ANSWER) return answer;
      await this.#sleep(RETRY_MS);
    }
  }

  async #ask<T>(
    { process, world }: Running,
    work: (world: World) => Promise<T>,
  ): Promise<T | undefined | typeof NO_ANSWER> {
    try {
      await process.wait(1);
      return await work(world);
    } catch (error) {
      if (!(error instanceof Fault) || error.code === "internal_error") return NO_ANSWER;
      this.#site.parts.trace.say("merchant", `is told ${error.code}`);
      return undefined;
    }
  }

  get #nowMs(): number {
    return this.#site.parts.scheduler.nowMs;
  }

  #sleep(durationMs: number): Promise<void> {
    return new Promise((resolve) => this.#site.parts.scheduler.after(durationMs, resolve));
  }

  #do(delayMs: number, work: () => Promise<void>): void {
    this.busy += 1;
    const { scheduler, violate } = this.#site.parts;
    scheduler.after(delayMs, () => {
      work().then(
        () => (this.busy -= 1),
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
