import { BridgeFaults } from "./bridge/bridgeFaults.ts";
import type { SelectTransaction } from "./chain/transactionPool.ts";
import { tokenCalls } from "./chain/token.ts";
import type { ScriptedBlock, ScriptedTransaction } from "./chain/transaction.ts";
import type { FaultKind, FaultSchedule } from "./faultSchedule.ts";
import type { SeededRandom } from "./seededRandom.ts";
import type { Scheduler } from "./scheduler.ts";
import {
  addressOf,
  FEE_RECIPIENT,
  GAS_ADDRESS,
  GAS_WEI,
  TOKEN_OWNER,
  type SimChain,
  type SimWorld,
} from "./simWorld.ts";
import type { Trace } from "./trace.ts";

// Mines blocks, and injects the faults of chains, their providers and processes.

const NORMAL_FEE = 1_000_000_000n;
const EXTRA_REORG_DEPTH_MAX = 24;
const UNTAGGED_FINALITY_DEPTH = 1_100;
/** With slower ones, a run that heals lacks the blocks by which a single provider may lag. */
const SLOWEST_BLOCK_MS = 600_000;
const EXTRA_BLOCKS_INTERVAL_MS = 3_600_000;
/** A day is longer than a run may take to heal, so whatever waits for the former time is stuck. */
const CLOCK_STEPS_MS = [-600_000, -3_600_000, -86_400_000, 3_600_000] as const;
/** How often a process reads the database's clock. */
const CLOCK_SAMPLE_MS = 30_000;

export class FaultInjector {
  readonly #simWorld: SimWorld;
  readonly #scheduler: Scheduler;
  readonly #random: SeededRandom;
  readonly #schedule: FaultSchedule;
  readonly #trace: Trace;
  readonly #bridgeFaults: BridgeFaults;
  /** The merchants' payout wallets. An issuer may blocklist some of them. */
  readonly wallets = new Set<string>();
  /** Wallets that stay blocklisted. */
  readonly permanentlyBlocked = new Set<string>();
  /** The inboxes that a lying provider may name as payees. */
  listInboxes: (chain: SimChain) => string[] = () => [];
  /** The number of reorgs so far. */
  reorgCount = 0;
  /** The factor by which blocks slow down while the run heals. */
  slowdown = 1;

  constructor(simWorld: SimWorld, random: SeededRandom) {
    this.#simWorld = simWorld;
    this.#scheduler = simWorld.parts.scheduler;
    this.#schedule = simWorld.parts.faults;
    this.#trace = simWorld.parts.trace;
    this.#random = random;
    this.#bridgeFaults = new BridgeFaults({
      simWorld,
      random: random.derive("bridge"),
      injectRepeatedly: (kind, strike) => this.#injectRepeatedly(kind, strike),
      recordInjected: (kind, detail) => this.#schedule.recordInjected(kind, detail),
      afterUnlessHealed: (delayMs, work) => this.#afterUnlessHealed(delayMs, work),
      send: (chain, calls) => this.#send(chain, calls),
      listInboxes: () => simWorld.chains.flatMap((chain) => this.listInboxes(chain)),
    });
  }

  start(): void {
    for (const chain of this.#simWorld.chains) {
      this.#mineContinuously(chain);
      this.#scheduleChainFaults(chain);
    }
    this.#bridgeFaults.start();
    this.#injectRepeatedly("crash", () => this.#crash());
    this.#injectRepeatedly("pause", () => this.#pause());
    this.#injectRepeatedly("skew", () => this.#skew());
    this.#injectRepeatedly("clockStep", () => this.#stepClock());
  }

  /** Ends all faults. Permanent blocklist entries stay, because they are an issuer's decision. */
  heal(): void {
    this.#bridgeFaults.heal();
    for (const chain of this.#simWorld.chains) {
      if (chain.plan.finalityLag === null) this.#mineUntilFinal(chain);
      chain.haltedUntilMs = 0;
      chain.chain.baseFee = NORMAL_FEE;
      if (this.#schedule.rates.has("feeSpike")) this.#raiseFees(chain);
      for (const node of chain.nodes) {
        node.downUntilMs = 0;
        node.lagMs = 0;
        node.isLoadBalanced = false;
        node.forgery = undefined;
        node.knownBlockCount = chain.chain.blockCount;
      }
      // Far more than any fault takes away.
      const gas = { to: GAS_ADDRESS, wei: GAS_WEI * 1_000n };
      this.#send(chain, [gas, ...chain.tokens.map(({ address }) => ({ to: address, data: tokenCalls.unpause() }))]);
      const unblocked = [...this.wallets, FEE_RECIPIENT].filter((wallet) => !this.permanentlyBlocked.has(wallet));
      for (const { address } of chain.tokens) {
        this.#send(
          chain,
          unblocked.map((wallet) => ({ to: address, data: tokenCalls.unblock(wallet) })),
        );
      }
    }
    for (const { process } of this.#simWorld.running) process.skewMs = 0;
  }

  /** Mines the next block of a chain, or the branch that replaces `reorgDepth` blocks. */
  mine(chain: SimChain, reorgDepth = 0, reorg: { chainTx?: string; longerBy?: number } = {}): void {
    const selectTransaction = this.#transactionSelector(chain);
    const atS = Math.floor(this.#simWorld.startTimeS + this.#scheduler.nowMs / 1_000);
    const lost: ScriptedTransaction[] = [];
    const isLost = (transaction: ScriptedTransaction) => {
      if (transaction.chainTx === reorg.chainTx) return lost.push(transaction) > 0;
      const isPayer = !transaction.paysGas && transaction.sender !== TOKEN_OWNER && transaction.sender !== GAS_ADDRESS;
      const isFar = reorgDepth > chain.plan.toleratedReorgDepth && this.#random.chance(0.5);
      if (!isPayer || !(isFar || this.#shouldInject("doubleSpend", transaction.chainTx))) return false;
      lost.push(transaction);
      return true;
    };
    // A payer that spends twice uses the same nonce for another transaction.
    const onBranch = () => {
      for (const { sender, nonce } of lost) chain.chain.send({ from: sender, nonce, calls: [] });
    };
    if (reorgDepth === 0) this.#traceBlock(chain, chain.chain.mine({ atS, selectTransaction }));
    else {
      const transactionsMax = this.#random.pick([1, 2, 200] as const);
      const longerBy = reorg.longerBy ?? this.#random.between(1, 2);
      const head = chain.chain.reorg(reorgDepth, {
        atS,
        selectTransaction,
        isLost,
        onBranch,
        transactionsMax,
        longerBy,
      });
      for (let number = head.number - BigInt(reorgDepth + longerBy - 1); number <= head.number; number += 1n) {
        const block = chain.chain.blockAt(number);
        if (block) this.#traceBlock(chain, block, " on another branch");
      }
    }
    this.#propagateHead(chain);
  }

  /** Replaces blocks by a branch without a transaction. */
  replace(chain: SimChain, of: { depth: number; chainTx: string; longerBy: number }): void {
    this.reorgCount += 1;
    this.mine(chain, of.depth, of);
  }

  #traceBlock(chain: SimChain, { number, hash, transactions }: ScriptedBlock, where = ""): void {
    const txNames = transactions.map(({ chainTx }) => chainTx.slice(0, 8)).join(" ");
    this.#trace.append(chain.plan.name, `block ${number} ${hash.slice(0, 8)}${where}: ${txNames}`);
  }

  /** Delivers the chain's new head to each node after its delay. */
  #propagateHead(chain: SimChain): void {
    const { blockCount } = chain.chain;
    for (const node of chain.nodes) {
      const delayMs = this.#random.between(10, 400) + node.lagMs;
      this.#scheduler.after(delayMs, () => {
        node.receiveBlocks(blockCount);
        return false;
      });
    }
  }

  #mineContinuously(chain: SimChain): void {
    const blockMs = Math.min(chain.plan.blockMs * this.slowdown, SLOWEST_BLOCK_MS);
    const delayMs = blockMs * (0.6 + this.#random.number() * 0.8);
    this.#scheduler.after(delayMs, () => {
      if (chain.haltedUntilMs <= this.#scheduler.nowMs) this.mine(chain);
      this.#mineContinuously(chain);
      return false;
    });
  }

  /** Miners choose any order, and may include a transaction that was replaced. */
  #transactionSelector(chain: SimChain): SelectTransaction {
    const { pool } = chain.chain;
    return (among) => {
      const current = among.filter((transaction) => pool.isCurrent(transaction));
      const isRival = current.length < among.length && this.#shouldInject("rivalMined", chain.plan.name);
      return this.#random.pick(isRival || current.length === 0 ? among : current);
    };
  }

  #scheduleChainFaults(chain: SimChain): void {
    const { name, toleratedReorgDepth } = chain.plan;
    this.#injectRepeatedly("reorg", () => {
      if (toleratedReorgDepth > 0) this.#reorg(chain, "reorg", this.#random.between(1, toleratedReorgDepth));
    });
    this.#injectRepeatedly("deepReorg", () => {
      chain.hadDeepReorg = true;
      this.#reorg(chain, "deepReorg", toleratedReorgDepth + this.#random.between(1, EXTRA_REORG_DEPTH_MAX));
    });
    this.#injectRepeatedly("leap", () => {
      this.#schedule.recordInjected("leap", name);
      this.#mineEmptyBlocks(chain, this.#random.pick([40, 150, 400] as const));
    });
    this.#injectRepeatedly("halt", () => {
      chain.haltedUntilMs = this.#scheduler.nowMs + this.#random.between(10_000, 120_000);
      this.#schedule.recordInjected("halt", name);
    });
    this.#injectRepeatedly("forgotten", () => {
      const forgotten = this.#random.pick(chain.chain.pool.pending.filter(({ paysGas }) => paysGas));
      if (!forgotten) return;
      chain.chain.pool.drop(forgotten.chainTx);
      this.#schedule.recordInjected("forgotten", forgotten.chainTx);
    });
    this.#injectRepeatedly("feeSpike", () => {
      // A third of the spikes exceed the fee ceiling.
      chain.chain.baseFee = NORMAL_FEE * BigInt(this.#random.between(3, 300));
      this.#schedule.recordInjected("feeSpike", `${name} ${chain.chain.baseFee}`);
      this.#afterUnlessHealed(this.#random.between(20_000, 200_000), () => (chain.chain.baseFee = NORMAL_FEE));
    });
    this.#scheduleGasFaults(chain);
    this.#scheduleTokenFaults(chain);
    this.#scheduleNodeFaults(chain);
  }

  /** Raises the base fee for good, so that waiting transactions need a higher fee. */
  #raiseFees(chain: SimChain): void {
    const fee = NORMAL_FEE * this.#random.pick([1n, 6n, 20n] as const);
    this.#scheduler.after(this.#random.between(5_000, 90_000), () => {
      chain.chain.baseFee = fee;
      this.#trace.append(chain.plan.name, `raises the base fee to ${fee}`);
    });
  }

  /** Without tags, only depth makes a block final. Later blocks need enough successors as well. */
  #mineUntilFinal(chain: SimChain): void {
    this.#mineEmptyBlocks(chain, UNTAGGED_FINALITY_DEPTH);
    this.#scheduler.after(EXTRA_BLOCKS_INTERVAL_MS, () => this.#mineUntilFinal(chain));
  }

  /** Mines many empty blocks at once, as after a long pause of the service. */
  #mineEmptyBlocks(chain: SimChain, blocks: number): void {
    for (let block = 0; block < blocks; block += 1) chain.chain.mine();
    this.#trace.append(chain.plan.name, `jumps to block ${chain.chain.head.number}`);
    this.#propagateHead(chain);
  }

  #reorg(chain: SimChain, kind: FaultKind, depthMax: number): void {
    const depth = Math.min(depthMax, Number(chain.chain.head.number) - Math.max(chain.firstBlock, chain.attestedBlock));
    if (depth < 1) return;
    this.#schedule.recordInjected(kind, `${chain.plan.name} ${depth}`);
    this.reorgCount += 1;
    this.mine(chain, depth);
  }

  #scheduleGasFaults(chain: SimChain): void {
    this.#injectRepeatedly("gasEmpty", () => {
      const wei = chain.chain.weiOf(GAS_ADDRESS);
      this.#send(chain, [{ to: GAS_ADDRESS, wei: 1_000n - wei }]);
      this.#schedule.recordInjected("gasEmpty", chain.plan.name);
      this.#afterUnlessHealed(this.#random.between(20_000, 200_000), () =>
        this.#send(chain, [{ to: GAS_ADDRESS, wei: GAS_WEI }]),
      );
    });
    if (chain.plan.kind === "oneShot") return;
    this.#injectRepeatedly("foreignNonce", () => {
      const nonce = chain.chain.nonceOf(GAS_ADDRESS);
      chain.chain.send({ from: GAS_ADDRESS, calls: [{ to: addressOf(0xdead) }], nonce, tip: 10n ** 12n });
      this.#schedule.recordInjected("foreignNonce", `${chain.plan.name} ${nonce}`);
    });
  }

  #scheduleTokenFaults(chain: SimChain): void {
    const rails = chain.tokens.filter(({ isRail }) => isRail);
    this.#injectRepeatedly("tokenPaused", () => {
      const token = this.#random.pick(rails);
      if (!token) return;
      this.#send(chain, [{ to: token.address, data: tokenCalls.pause() }]);
      this.#schedule.recordInjected("tokenPaused", token.symbol);
      this.#afterUnlessHealed(this.#random.between(20_000, 300_000), () =>
        this.#send(chain, [{ to: token.address, data: tokenCalls.unpause() }]),
      );
    });
    for (const [kind, wallets] of [
      ["payoutBlocked", () => [...this.wallets]],
      ["feeBlocked", () => [FEE_RECIPIENT]],
    ] as const) {
      this.#injectRepeatedly(kind, () => {
        const wallet = this.#random.pick(wallets());
        if (wallet === undefined) return;
        for (const { address } of rails) this.#send(chain, [{ to: address, data: tokenCalls.block(wallet) }]);
        if (this.#random.chance(0.3)) this.permanentlyBlocked.add(wallet);
        this.#schedule.recordInjected(kind, wallet);
      });
    }
  }

  #scheduleNodeFaults(chain: SimChain): void {
    for (const node of chain.nodes) {
      this.#injectRepeatedly("nodeLags", () => {
        node.lagMs = this.#random.pick([0, 2_000, 10_000, 60_000] as const);
        this.#schedule.recordInjected("nodeLags", `${node.name} ${node.lagMs}`);
      });
      node.isLoadBalanced = this.#schedule.rate("nodeRegresses") > 0 && this.#random.chance(0.5);
      this.#injectRepeatedly("providerDown", () => {
        node.downUntilMs = this.#scheduler.nowMs + this.#random.between(5_000, 90_000);
        this.#schedule.recordInjected("providerDown", node.name);
      });
    }
    const lyingNode = this.#random.pick(chain.nodes);
    const mayLie = chain.plan.providers === 3 && chain.plan.agreement !== undefined;
    if (lyingNode && mayLie && this.#schedule.rate("liar") > 0 && chain.tokens[0]) {
      lyingNode.forgery = { inboxes: () => this.listInboxes(chain), token: chain.tokens[0].address };
      this.#schedule.recordInjected("liar", lyingNode.name);
    }
    // The agreement of two providers needs two that do not contradict themselves.
    const mayContradict = chain.plan.providers > (chain.plan.agreement ? 2 : 1);
    if (mayContradict && this.#schedule.rate("nodeContradicts") > 0) {
      const [first] = chain.nodes.filter((node) => node !== lyingNode || !mayLie);
      if (first) first.lacksBlocks = true;
      this.#schedule.recordInjected("nodeContradicts", first?.name);
    }
    this.#injectRepeatedly("chainUnreachable", () => {
      const untilMs = this.#scheduler.nowMs + this.#random.pick([20_000, 120_000, 400_000] as const);
      for (const node of chain.nodes) node.downUntilMs = untilMs;
      this.#schedule.recordInjected("chainUnreachable", chain.plan.name);
    });
  }

  #crash(): void {
    const victim = this.#random.pick(this.#simWorld.running);
    if (!victim) return;
    this.#schedule.recordInjected("crash", victim.process.name);
    victim.process.crash();
  }

  #pause(): void {
    const victim = this.#random.pick(this.#simWorld.running);
    if (!victim) return;
    this.#schedule.recordInjected("pause", victim.process.name);
    victim.process.pause(this.#random.between(2_000, 120_000));
  }

  #skew(): void {
    const victim = this.#random.pick(this.#simWorld.running);
    if (!victim) return;
    victim.process.skewMs = this.#random.pick([0, -2_000, 2_000, 60_000, -60_000] as const);
    this.#schedule.recordInjected("skew", `${victim.process.name} ${victim.process.skewMs}`);
  }

  /** Steps the database's clock, as a failover to another machine does. Each process notices with its next sample. */
  #stepClock(): void {
    this.#simWorld.databaseOffsetMs += this.#random.pick(CLOCK_STEPS_MS);
    this.#schedule.recordInjected("clockStep", String(this.#simWorld.databaseOffsetMs));
    for (const { process } of this.#simWorld.running)
      this.#scheduler.after(this.#random.between(0, CLOCK_SAMPLE_MS), () => {
        process.databaseOffsetMs = this.#simWorld.databaseOffsetMs;
      });
  }

  #send(chain: SimChain, calls: { to: string; data?: string; wei?: bigint }[]): void {
    if (calls.length > 0) chain.chain.send({ from: TOKEN_OWNER, calls, ignoresCallFailures: true, tip: 10n ** 12n });
  }

  #shouldInject(kind: FaultKind, detail: string): boolean {
    const isStruck = this.#schedule.shouldInject(kind);
    if (isStruck) this.#schedule.recordInjected(kind, detail.slice(0, 10));
    return isStruck;
  }

  /** Repeats the fault at the seed's rate until everything heals. */
  #injectRepeatedly(kind: FaultKind, strike: () => void): void {
    const delayMs = this.#schedule.nextDelayMs(kind);
    if (delayMs === undefined) return;
    this.#afterUnlessHealed(delayMs, () => {
      strike();
      this.#injectRepeatedly(kind, strike);
    });
  }

  #afterUnlessHealed(delayMs: number, strike: () => void): void {
    this.#scheduler.after(delayMs, () => {
      if (!this.#schedule.isHealed) strike();
    });
  }
}
