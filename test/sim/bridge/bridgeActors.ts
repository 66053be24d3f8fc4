import { hubAddress } from "@tributary/inbox/hub";
import { hubAbi } from "@tributary/inbox/hubAbi";
import { parseBurnMessage, toMessageAccount } from "@tributary/inbox/burnMessage";
import { encodeFunctionData, type Hex } from "viem";
import { buildCatalog } from "../../../src/catalog/catalog.ts";
import { routesTo, type CatalogRoute } from "../../../src/catalog/routes.ts";
import { toInboxTerms } from "../../../src/intent/inboxTerms.ts";
import { proofOf, routesFrom, toRoute } from "../../../src/intent/routes/routeSet.ts";
import { bridgeAbi, usedNonceKey } from "../chain/bridge.ts";
import { tokenCalls } from "../chain/token.ts";
import type { ScriptedCall } from "../chain/transaction.ts";
import type { SeededRandom } from "../seededRandom.ts";
import { addressOf, payerAddress, type SimChain, type SimWorld, type TrackedIntent } from "../simWorld.ts";
import type { AttestedMessage } from "./attestationService.ts";

// Payers who pay on the other chain or use the bridge themselves, and strangers who bridge and receive for inboxes
// before the service does.

const STRANGER = addressOf(0xb57a);
const NO_CALLER: Hex = `0x${"0".repeat(64)}`;
const FAST = 1_000;
const STANDARD = 2_000;
const RELAY_MS_MIN = 3_000;
const RELAY_MS_MAX = 120_000;
const STRANGER_TRIES = 6;
const STRANGER_MS = 12_000;

type Interference = "burn" | "burnTwice" | "receive" | "smallBurn";
type Sleep = (durationMs: number) => Promise<void>;

export class BridgeActors {
  readonly #simWorld: SimWorld;
  readonly #random: SeededRandom;
  readonly #sleep: Sleep;

  constructor(simWorld: SimWorld, random: SeededRandom, sleep: Sleep) {
    this.#simWorld = simWorld;
    this.#random = random;
    this.#sleep = sleep;
  }

  /**
   * Pays in the token that the bridge carries, on the other chain: at once, or in two parts so that the second may meet
   * the crossing of the first.
   */
  async payAcross(
    known: TrackedIntent,
    units: bigint,
    { isTwice, random }: { isTwice: boolean; random: SeededRandom },
  ) {
    const origin = this.#originOf(known);
    const token = origin.chain.bridge?.token ?? known.row.payout_token;
    const pay = (amount: bigint) =>
      origin.chain.pay({
        token,
        from: payerAddress(random.between(0, 11)),
        to: known.row.inbox_address,
        units: amount,
      });
    if (!isTwice) return void pay(units);
    pay(units / 2n);
    await this.#sleep(random.between(0, 60_000));
    pay(units - units / 2n);
  }

  /** Burns for an inbox in the payer's own name, and receives as soon as the service has signed. */
  async payByOwnBridge(known: TrackedIntent, units: bigint, random: SeededRandom): Promise<void> {
    const origin = this.#originOf(known);
    const payer = payerAddress(random.between(0, 11));
    const call = this.#burnCall(known, { units, isFast: random.chance(0.5) });
    if (call === undefined) return;
    const chainTx = origin.chain.send({ from: payer, calls: [call] });
    await this.#relay(known, { origin, chainTx, payer });
  }

  /** Bridges an inbox that waits, receives a message, or does something useless, whatever is possible first. */
  async interfere(intents: () => readonly TrackedIntent[]): Promise<void> {
    const random = this.#random;
    for (let tries = 0; tries < STRANGER_TRIES; tries += 1) {
      const known = random.pick(intents().filter(({ chain, row }) => row.payout_token === chain.chain.bridge?.token));
      if (known !== undefined && this.#interfereWith(known, random)) return;
      await this.#sleep(random.between(1_000, STRANGER_MS));
    }
  }

  #interfereWith(known: TrackedIntent, random: SeededRandom): boolean {
    const origin = this.#originOf(known);
    const kind = random.pick([
      "burn",
      "burn",
      "burnTwice",
      "receive",
      "receive",
      "smallBurn",
    ] as readonly Interference[]);
    if (kind === "smallBurn") {
      this.#trace(`sends a small burn to ${known.row.id.slice(0, 8)}`);
      const calls = [{ to: known.row.payout_token, data: tokenCalls.transfer(known.row.inbox_address, 1n) }];
      known.chain.chain.send({ from: payerAddress(random.between(0, 11)), calls });
      return true;
    }
    if (kind === "receive") return this.#receive(known, origin, random);
    const units = origin.chain.unitsOf(origin.chain.bridge?.token ?? "", known.row.inbox_address);
    const bridge = this.bridgeCall(known);
    if (units === 0n || bridge === undefined) return false;
    this.#trace(`bridges ${known.row.id.slice(0, 8)}${kind === "burnTwice" ? " twice" : ""}`);
    origin.chain.send({
      from: payerAddress(random.between(0, 11)),
      calls: kind === "burn" ? [bridge] : this.#burnTwice(known, { units, origin, bridge, random }),
    });
    return true;
  }

  /**
   * In one transaction: the inbox's burn, its like by the stranger, a payment of the same units, and the inbox's second
   * burn.
   */
  #burnTwice(
    known: TrackedIntent,
    burn: { units: bigint; origin: SimChain; bridge: ScriptedCall; random: SeededRandom },
  ): ScriptedCall[] {
    const { units, origin, bridge, random } = burn;
    const own = this.#burnCall(known, { units, isFast: random.chance(0.5) });
    const token = origin.chain.bridge?.token ?? "";
    const pay = { to: token, data: tokenCalls.transfer(known.row.inbox_address, units) };
    return [...(own === undefined || random.chance(0.5) ? [] : [own]), bridge, pay, bridge];
  }

  #receive(known: TrackedIntent, origin: SimChain, random: SeededRandom): boolean {
    const inbox = toMessageAccount(known.row.inbox_address);
    const messages = this.#signedMessages(origin).filter(({ message }) => parseBurnMessage(message)?.sender === inbox);
    const open = messages.filter(({ message }) => !this.#isUsed(known.chain, parseBurnMessage(message)?.nonce));
    const one = random.pick(open);
    if (one === undefined) return false;
    this.#trace(`receives for ${known.row.id.slice(0, 8)}`);
    known.chain.chain.send({
      from: STRANGER,
      calls: this.#receiveCalls(known, one, random),
      ignoresCallFailures: true,
    });
    return true;
  }

  async #relay(
    known: TrackedIntent,
    { origin, chainTx, payer }: { origin: SimChain; chainTx: string; payer: string },
  ): Promise<void> {
    const { attestation, parts } = this.#simWorld;
    const domain = origin.chain.bridge?.domain ?? 0;
    for (let waitMs = RELAY_MS_MIN; ; waitMs = Math.min(waitMs * 1.5, RELAY_MS_MAX)) {
      await this.#sleep(waitMs);
      const receipt = origin.chain.receiptsOf(chainTx).find(({ blockHash }) => origin.chain.isCanonical(blockHash));
      const isLost = receipt === undefined && origin.chain.pool.get(chainTx) === undefined;
      if (parts.faults.isHealed && (isLost || receipt?.succeeded === false)) return;
      const payerAccount = toMessageAccount(payer);
      const [signed] = (attestation?.service.messagesOf(domain, chainTx) ?? []).filter(
        ({ message, status }) => status === "complete" && parseBurnMessage(message)?.sender === payerAccount,
      );
      const { nonce } = (signed && parseBurnMessage(signed.message)) ?? {};
      if (signed === undefined || nonce === undefined) continue;
      if (!this.#isUsed(known.chain, nonce)) {
        // Both do nothing where they are not needed.
        attestation?.service.renew(nonce);
        const calls = this.#receiveCalls(known, signed, this.#random);
        known.chain.chain.send({ from: payer, calls, ignoresCallFailures: true });
      } else if (parts.faults.isHealed) return;
    }
  }

  /** Receives alone, together with a settlement, or by the hub's own call for both. */
  #receiveCalls(known: TrackedIntent, { message, attestation }: AttestedMessage, random: SeededRandom): ScriptedCall[] {
    const transmitter = known.chain.chain.bridge?.transmitter ?? "";
    const args = [message as Hex, attestation as Hex] as const;
    const terms = toInboxTerms(known.row);
    const receive = {
      to: transmitter,
      data: encodeFunctionData({ abi: bridgeAbi, functionName: "receiveMessage", args }),
    };
    const settle = { to: hubAddress, data: encodeFunctionData({ abi: hubAbi, functionName: "settle", args: [terms] }) };
    const both = {
      to: hubAddress,
      data: encodeFunctionData({
        abi: hubAbi,
        functionName: "receiveAndSettle",
        args: [transmitter as Hex, ...args, terms],
      }),
    };
    return random.pick([[receive], [receive], [receive, settle], [both]] as const).slice();
  }

  /** The hub's call that bridges an inbox, by a random one of its routes; undefined where it has none. */
  bridgeCall(known: TrackedIntent, only?: { isFast: boolean }): ScriptedCall | undefined {
    const { chain } = this.#originOf(known);
    const routes = this.#routesOf(known);
    const ways = routesFrom(routes, { chain: chain.caip2, token: chain.bridge?.token ?? "" });
    const route = this.#random.pick(
      ways.filter(({ speed }) => only === undefined || (speed === "fast") === only.isFast),
    );
    if (route === undefined) return undefined;
    const args = [toInboxTerms(known.row), toRoute(route), proofOf(routes, route), "0x"] as const;
    return { to: hubAddress, data: encodeFunctionData({ abi: hubAbi, functionName: "bridge", args }) };
  }

  #routesOf({ chain, row }: TrackedIntent): CatalogRoute[] {
    const catalog = buildCatalog(this.#simWorld.config);
    const rail = catalog.assets.find((asset) => asset.chain === chain.chain.caip2 && asset.token === row.payout_token);
    return rail === undefined ? [] : routesTo(catalog, rail);
  }

  #burnCall(known: TrackedIntent, { units, isFast }: { units: bigint; isFast: boolean }): ScriptedCall | undefined {
    const [{ bridge }, settle] = [this.#originOf(known).chain, known.chain.chain.bridge];
    if (bridge === undefined || settle === undefined || known.row.payout_token !== settle.token) return undefined;
    const recipient = toMessageAccount(known.row.inbox_address) as Hex;
    const feeMax = units / 100n;
    const threshold = isFast ? FAST : STANDARD;
    const args = [units, settle.domain, recipient, bridge.token as Hex, NO_CALLER, feeMax, threshold] as const;
    return {
      to: bridge.messenger,
      data: encodeFunctionData({ abi: bridgeAbi, functionName: "depositForBurn", args }),
    };
  }

  /** What the service has signed of the messages in the last blocks of a chain. */
  #signedMessages({ chain }: SimChain): AttestedMessage[] {
    const { attestation } = this.#simWorld;
    const burns: string[] = [];
    for (let number = chain.head.number; number > 0n && burns.length < 8; number -= 1n)
      for (const { chainTx, logs } of chain.blockAt(number)?.receipts ?? [])
        if (logs.some(({ sent }) => sent !== undefined)) burns.push(chainTx);
    const signed = burns.flatMap(
      (chainTx) => attestation?.service.messagesOf(chain.bridge?.domain ?? 0, chainTx) ?? [],
    );
    return signed.filter(({ status }) => status === "complete");
  }

  #isUsed({ chain }: SimChain, nonce: string | undefined): boolean {
    return chain.state.get(usedNonceKey(chain.bridge?.transmitter ?? "", nonce ?? "")) > 0n;
  }

  #originOf({ chain }: TrackedIntent): SimChain {
    return this.#simWorld.chains.find((one) => one !== chain) ?? chain;
  }

  #trace(what: string): void {
    this.#simWorld.parts.trace.append("stranger", what);
  }
}
