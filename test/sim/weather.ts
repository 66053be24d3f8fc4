import type { Choose } from "./chain/pool.ts";
import { tokenCalls } from "./chain/token.ts";
import type { ScriptedBlock, ScriptedTransaction } from "./chain/transaction.ts";
import type { FaultKind, Faults } from "./faults.ts";
import type { Random } from "./random.ts";
import type { Scheduler } from "./scheduler.ts";
import { addressOf, FEE_RECIPIENT, GAS_ADDRESS, GAS_WEI, TOKEN_OWNER, type SimChain, type Site } from "./site.ts";
import type { Trace } from "./trace.ts";

// What happens to the chains, their providers and the processes by itself: blocks, and everything that goes wrong from time to time.

const NORMAL_FEE = 1_000_000_000n;
const FAR_REORG_MAX = 24;
const DEPTH_WITHOUT_TAG = 1_100;
const DEEPEN_MS = 3_600_000;

export class Weather {
  readonly #site: Site;
  readonly #scheduler: Scheduler;
  readonly #random: Random;
  readonly #faults: Faults;
  readonly #trace: Trace;
  /** Wallets that a merchant is paid to; some are put on an issuer's list. */
  readonly wallets = new Set<string>();
  /** Those that stay there. */
  readonly blockedForEver = new Set<string>();
  /** What a liar can claim that money went to. */
  inboxesOf: (chain: SimChain) => string[] = () => [];
  /** How many reorgs there were. */
  reorgs = 0;
  /** How much slower blocks come while nothing else is waited for. */
  slowness = 1;

  constructor(site: Site, random: Random) {
    this.#site = site;
    this.#scheduler = site.parts.scheduler;
    this.#faults = site.parts.faults;
    this.#trace = site.parts.trace;
    this.#random = random;
  }

  begin(): void {
    for (const chain of this.#site.chains) {
      this.#mineForEver(chain);
      this.#troubleChain(chain);
    }
    this.#often("crash", () => this.#crash());
    this.#often("pause", () => this.#pause());
    this.#often("skew", () => this.#skew());
  }

  /** Everything that was broken is put right; what stays is somebody's decision. */
  heal(): void {
    for (const chain of this.#site.chains) {
      if (chain.plan.lag === null) this.#deepen(chain);
      chain.haltedUntilMs = 0;
      chain.chain.baseFee = NORMAL_FEE;
      if (this.#faults.rates.has("feeSpike")) this.#raiseFees(chain);
      for (const node of chain.nodes) {
        node.downUntilMs = 0;
        node.lagMs = 0;
        node.isBalanced = false;
        node.lie = undefined;
        node.made = chain.chain.made;
      }
      // Far more than was ever taken away.
      const gas = { to: GAS_ADDRESS, wei: GAS_WEI * 1_000n };
      this.#send(chain, [gas, ...chain.tokens.map(({ address }) => ({ to: address, data: tokenCalls.unpause() }))]);
      const unblocked = [...this.wallets, FEE_RECIPIENT].filter((wallet) => !this.blockedForEver.has(wallet));
      for (const { address } of chain.tokens) {
        this.#send(
          chain,
          unblocked.map((wallet) => ({ to: address, data: tokenCalls.unblock(wallet) })),
        );
      }
    }
    for (const { process } of this.#site.running) process.skewMs = 0;
  }

  /** The next block of a chain, or the branch that replaces some. */
  mine(chain: SimChain, reorgDepth = 0): void {
    const choose = this.#chooser(chain);
    const atS = Math.floor(this.#site.startS + this.#scheduler.nowMs / 1_000);
    const lost: ScriptedTransaction[] = [];
    const isLost = (transaction: ScriptedTransaction) => {
      const isPayer = !transaction.paysGas && transaction.sender !== TOKEN_OWNER && transaction.sender !== GAS_ADDRESS;
      const isFar = reorgDepth > chain.plan.promisedDepth && this.#random.chance(0.5);
      if (!isPayer || !(isFar || this.#strikes("doubleSpend", transaction.chainTx))) return false;
      lost.push(transaction);
      return true;
    };
    // Who spends twice uses the same nonce for something else.
    const onBranch = () => {
      for (const { sender, nonce } of lost) chain.chain.send({ from: sender, nonce, calls: [] });
    };
    if (reorgDepth === 0) this.#show(chain, chain.chain.mine({ atS, choose }));
    else {
      const transactionsMax = this.#random.pick([1, 2, 200] as const);
      const longerBy = this.#random.between(1, 2);
      const head = chain.chain.reorg(reorgDepth, { atS, choose, isLost, onBranch, transactionsMax, longerBy });
      for (let number = head.number - BigInt(reorgDepth + longerBy - 1); number <= head.number; number += 1n) {
        const block = chain.chain.blockAt(number);
        if (block) this.#show(chain, block, " on another branch");
      }
    }
    this.#announce(chain);
  }

  #show(chain: SimChain, { number, hash, transactions }: ScriptedBlock, where = ""): void {
    const held = transactions.map(({ chainTx }) => chainTx.slice(0, 8)).join(" ");
    this.#trace.say(chain.plan.name, `block ${number} ${hash.slice(0, 8)}${where}: ${held}`);
  }

  /** Tells the nodes of the chain's new head, each in its time. */
  #announce(chain: SimChain): void {
    const { made } = chain.chain;
    for (const node of chain.nodes) {
      const delayMs = this.#random.between(10, 400) + node.lagMs;
      this.#scheduler.after(delayMs, () => {
        node.hear(made);
        return false;
      });
    }
  }

  #mineForEver(chain: SimChain): void {
    const delayMs = chain.plan.blockMs * this.slowness * (0.6 + this.#random.number() * 0.8);
    this.#scheduler.after(delayMs, () => {
      if (chain.haltedUntilMs <= this.#scheduler.nowMs) this.mine(chain);
      this.#mineForEver(chain);
      return false;
    });
  }

  /** Miners order as they like, and may know of a transaction that was replaced since. */
  #chooser(chain: SimChain): Choose {
    const { pool } = chain.chain;
    return (among) => {
      const current = among.filter((transaction) => pool.isCurrent(transaction));
      const isRival = current.length < among.length && this.#strikes("rivalMined", chain.plan.name);
      return this.#random.pick(isRival || current.length === 0 ? among : current);
    };
  }

  #troubleChain(chain: SimChain): void {
    const { name, promisedDepth } = chain.plan;
    this.#often("reorg", () => {
      if (promisedDepth > 0) this.#reorg(chain, "reorg", this.#random.between(1, promisedDepth));
    });
    this.#often("deepReorg", () => {
      chain.isBroken = true;
      this.#reorg(chain, "deepReorg", promisedDepth + this.#random.between(1, FAR_REORG_MAX));
    });
    this.#often("leap", () => {
      this.#faults.note("leap", name);
      this.#leap(chain, this.#random.pick([40, 150, 400] as const));
    });
    this.#often("halt", () => {
      chain.haltedUntilMs = this.#scheduler.nowMs + this.#random.between(10_000, 120_000);
      this.#faults.note("halt", name);
    });
    this.#often("forgotten", () => {
      const forgotten = this.#random.pick(chain.chain.pool.all.filter(({ paysGas }) => paysGas));
      if (!forgotten) return;
      chain.chain.pool.drop(forgotten.chainTx);
      this.#faults.note("forgotten", forgotten.chainTx);
    });
    this.#often("feeSpike", () => {
      chain.chain.baseFee = NORMAL_FEE * BigInt(this.#random.between(3, 60));
      this.#faults.note("feeSpike", `${name} ${chain.chain.baseFee}`);
      this.#later(this.#random.between(20_000, 200_000), () => (chain.chain.baseFee = NORMAL_FEE));
    });
    this.#troubleGas(chain);
    this.#troubleTokens(chain);
    this.#troubleNodes(chain);
  }

  /** Fees rise once more, and do not come down again: what waits has to be paid better. */
  #raiseFees(chain: SimChain): void {
    const fee = NORMAL_FEE * this.#random.pick([1n, 6n, 20n] as const);
    this.#scheduler.after(this.#random.between(5_000, 90_000), () => {
      chain.chain.baseFee = fee;
      this.#trace.say(chain.plan.name, `asks ${fee} for gas from now on`);
    });
  }

  /** Without tags only depth says that something is final, also what is mined from now on. */
  #deepen(chain: SimChain): void {
    this.#leap(chain, DEPTH_WITHOUT_TAG);
    this.#scheduler.after(DEEPEN_MS, () => this.#deepen(chain));
  }

  /** Many empty blocks at once: the service has slept. */
  #leap(chain: SimChain, blocks: number): void {
    for (let block = 0; block < blocks; block += 1) chain.chain.mine();
    this.#trace.say(chain.plan.name, `leaps to block ${chain.chain.head.number}`);
    this.#announce(chain);
  }

  #reorg(chain: SimChain, kind: FaultKind, wanted: number): void {
    const depth = Math.min(wanted, Number(chain.chain.head.number) - chain.firstBlock);
    if (depth < 1) return;
    this.#faults.note(kind, `${chain.plan.name} ${depth}`);
    this.reorgs += 1;
    this.mine(chain, depth);
  }

  #troubleGas(chain: SimChain): void {
    this.#often("gasEmpty", () => {
      const wei = chain.chain.weiOf(GAS_ADDRESS);
      this.#send(chain, [{ to: GAS_ADDRESS, wei: 1_000n - wei }]);
      this.#faults.note("gasEmpty", chain.plan.name);
      this.#later(this.#random.between(20_000, 200_000), () => this.#send(chain, [{ to: GAS_ADDRESS, wei: GAS_WEI }]));
    });
    this.#often("foreignNonce", () => {
      const nonce = chain.chain.nonceOf(GAS_ADDRESS);
      chain.chain.send({ from: GAS_ADDRESS, calls: [{ to: addressOf(0xdead) }], nonce, tip: 10n ** 12n });
      this.#faults.note("foreignNonce", `${chain.plan.name} ${nonce}`);
    });
  }

  #troubleTokens(chain: SimChain): void {
    const rails = chain.tokens.filter(({ isRail }) => isRail);
    this.#often("tokenPaused", () => {
      const token = this.#random.pick(rails);
      if (!token) return;
      this.#send(chain, [{ to: token.address, data: tokenCalls.pause() }]);
      this.#faults.note("tokenPaused", token.symbol);
      this.#later(this.#random.between(20_000, 300_000), () =>
        this.#send(chain, [{ to: token.address, data: tokenCalls.unpause() }]),
      );
    });
    for (const [kind, wallets] of [
      ["payoutBlocked", () => [...this.wallets]],
      ["feeBlocked", () => [FEE_RECIPIENT]],
    ] as const) {
      this.#often(kind, () => {
        const wallet = this.#random.pick(wallets());
        if (wallet === undefined) return;
        for (const { address } of rails) this.#send(chain, [{ to: address, data: tokenCalls.block(wallet) }]);
        if (this.#random.chance(0.3)) this.blockedForEver.add(wallet);
        this.#faults.note(kind, wallet);
      });
    }
  }

  #troubleNodes(chain: SimChain): void {
    for (const node of chain.nodes) {
      this.#often("nodeLags", () => {
        node.lagMs = this.#random.pick([0, 2_000, 10_000, 60_000] as const);
        this.#faults.note("nodeLags", `${node.name} ${node.lagMs}`);
      });
      node.isBalanced = this.#faults.rate("nodeRegresses") > 0 && this.#random.chance(0.5);
      this.#often("providerDown", () => {
        node.downUntilMs = this.#scheduler.nowMs + this.#random.between(5_000, 90_000);
        this.#faults.note("providerDown", node.name);
      });
    }
    const liar = this.#random.pick(chain.nodes);
    const mayLie = chain.plan.providers === 3 && chain.plan.agreement !== undefined;
    if (liar && mayLie && this.#faults.rate("liar") > 0 && chain.tokens[0]) {
      liar.lie = { inboxes: () => this.inboxesOf(chain), token: chain.tokens[0].address };
      this.#faults.note("liar", liar.name);
    }
    this.#often("chainUnreachable", () => {
      const untilMs = this.#scheduler.nowMs + this.#random.pick([20_000, 120_000, 400_000] as const);
      for (const node of chain.nodes) node.downUntilMs = untilMs;
      this.#faults.note("chainUnreachable", chain.plan.name);
    });
  }

  #crash(): void {
    const victim = this.#random.pick(this.#site.running);
    if (!victim) return;
    this.#faults.note("crash", victim.process.name);
    victim.process.end();
  }

  #pause(): void {
    const victim = this.#random.pick(this.#site.running);
    if (!victim) return;
    this.#faults.note("pause", victim.process.name);
    victim.process.pause(this.#random.between(2_000, 120_000));
  }

  #skew(): void {
    const victim = this.#random.pick(this.#site.running);
    if (!victim) return;
    victim.process.skewMs = this.#random.pick([0, -2_000, 2_000, 60_000, -60_000] as const);
    this.#faults.note("skew", `${victim.process.name} ${victim.process.skewMs}`);
  }

  #send(chain: SimChain, calls: { to: string; data?: string; wei?: bigint }[]): void {
    if (calls.length > 0) chain.chain.send({ from: TOKEN_OWNER, calls, isPatient: true, tip: 10n ** 12n });
  }

  #strikes(kind: FaultKind, what: string): boolean {
    const isStruck = this.#faults.meets(kind);
    if (isStruck) this.#faults.note(kind, what.slice(0, 10));
    return isStruck;
  }

  /** Again and again, as often as the seed says, until everything heals. */
  #often(kind: FaultKind, strike: () => void): void {
    const delayMs = this.#faults.nextMs(kind);
    if (delayMs === undefined) return;
    this.#later(delayMs, () => {
      strike();
      this.#often(kind, strike);
    });
  }

  #later(delayMs: number, strike: () => void): void {
    this.#scheduler.after(delayMs, () => {
      if (!this.#faults.isHealed) strike();
    });
  }
}
