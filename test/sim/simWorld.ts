import type { Logger } from "pino";
import type { Hex } from "viem";
import { buildCatalog } from "../../src/catalog/catalog.ts";
import { createEvmChain } from "../../src/chain/evm/openEvmChain.ts";
import type { Chain } from "../../src/chain/chain.ts";
import { openGasAccount } from "../../src/chain/evm/send/gasAccount.ts";
import type { CctpV2Contracts, EvmChainConfig, Config } from "../../src/config/config.ts";
import type { IntentRow } from "../../src/intent/store.ts";
import type { Caip2 } from "../../src/kernel/caip.ts";
import type { Clock } from "../../src/kernel/clock.ts";
import { createWake, type Wake } from "../../src/kernel/wake.ts";
import { runLoops } from "../../src/loops/runLoops.ts";
import type { World } from "../../src/world.ts";
import { createAttestationClient } from "../../src/chain/evm/bridge/attestationClient.ts";
import { AttestationNetwork } from "./bridge/attestationTransport.ts";
import { AttestationService } from "./bridge/attestationService.ts";
import { createBridges, type BridgeSpec } from "./chain/bridge.ts";
import { ScriptedChain } from "./chain/scriptedChain.ts";
import type { TokenSpec } from "./chain/token.ts";
import type { OnCommit, SimDatabase } from "./simDatabase.ts";
import type { FaultSchedule } from "./faultSchedule.ts";
import {
  MAX_FEE_PER_GAS,
  type BridgePlan,
  type CreatePlan,
  type ChainPlan,
  type SimPlan,
  type TokenPlan,
} from "./plan.ts";
import { createProcessClock, ProcessCrashed, SimProcess } from "./simProcess.ts";
import { openSimHeadFeed } from "./simHeadFeed.ts";
import { accountNaming } from "./oneShot/accountNaming.ts";
import { createOneShotChain } from "./oneShot/oneShotSender.ts";
import { SimAccountsProvider } from "./oneShot/accountsNode.ts";
import { SimOneShotProvider } from "./oneShot/simOneShotProvider.ts";
import { logNaming } from "./chain/scriptedNode.ts";
import type { TransferNaming } from "./chain/scriptedReader.ts";
import { SimEvmProvider } from "./simEvmProvider.ts";
import { SimNode } from "./simProvider.ts";
import type { SeededRandom } from "./seededRandom.ts";
import type { Scheduler } from "./scheduler.ts";
import type { Trace } from "./trace.ts";
import { createTraceLogger } from "./traceLogger.ts";
import { SimEndpoints } from "./endpoints/simEndpoints.ts";
import { ProcessMemory } from "../../src/kernel/processMemory.ts";

/** The start of every simulation, in Unix milliseconds. */
const START_MS = Date.UTC(2026, 10, 1, 12);
const GAS_KEY = `0x${"11".repeat(32)}`;
const gasAccount = openGasAccount(GAS_KEY);
export const GAS_ADDRESS = gasAccount.address;
export const FEE_RECIPIENT = addressOf(0xfee);
export const TOKEN_OWNER = addressOf(0xad);
export const GAS_WEI = 10n ** 20n;
const PAYERS = 12;
/** Above the usual fee of a fast crossing, below the highest that is drawn. */
const FAST_FEE_PPM_MAX = 500;
const HEADS_WAKE_MS = 50;
const PAYER_UNITS = 10n ** 30n;

export function addressOf(number: number): `0x${string}` {
  return `0x${number.toString(16).padStart(4, "0").repeat(10)}`;
}

export const payerAddress = (index: number): string => addressOf(0xa000 + (index % PAYERS));

/** How a kind of chain identifies transfers. */
export function namingOf(kind: ChainPlan["kind"]): TransferNaming {
  return kind === "oneShot" ? accountNaming : logNaming;
}

/** A chain with its providers and its plan. */
export type SimChain = {
  plan: ChainPlan;
  chain: ScriptedChain;
  nodes: SimNode[];
  tokens: (TokenPlan & { address: string })[];
  /** True after a reorg deeper than the policy tolerates. */
  hadDeepReorg: boolean;
  /** Reorgs stay above this block, because the service starts watching there. */
  firstBlock: number;
  /** Reorgs stay above this block, because the bridge has signed what is in it. */
  attestedBlock: number;
  haltedUntilMs: number;
};

/** An intent that its merchant knows. */
export type TrackedIntent = { row: IntentRow; chain: SimChain; plan: CreatePlan };

/** A running process of the service with its world. */
export type RunningProcess = { process: SimProcess; world: World };

type SimWorldParts = {
  plan: SimPlan;
  random: SeededRandom;
  scheduler: Scheduler;
  database: SimDatabase;
  faults: FaultSchedule;
  trace: Trace;
  onCommit: OnCommit;
  /** Whether the merchants have webhook endpoints. */
  hasEndpoints: boolean;
  violate: (rule: string, subject: string) => void;
};

/** The simulated world: chains, and processes of the service that start and end. */
export class SimWorld {
  readonly chains: SimChain[];
  readonly config: Config;
  readonly parts: SimWorldParts;
  /** The process of each slot; undefined while it is down. */
  readonly slots: (RunningProcess | undefined)[];
  /** The bridge's service; undefined without a bridge. */
  readonly attestation: AttestationNetwork | undefined;
  /** The receivers of webhooks; undefined in runs without any. */
  readonly endpoints: SimEndpoints | undefined;
  /** The offset of the database's clock from the true time. It stays when the run heals. */
  databaseOffsetMs = 0;
  #generation = 0;

  constructor(parts: SimWorldParts) {
    this.parts = parts;
    const bridges = parts.plan.bridge === undefined ? [] : createBridges(parts.plan.chains.map(bridgeSide));
    this.chains = parts.plan.chains.map((plan, index) =>
      createSimChain(plan, { bridge: bridges[index], random: parts.random.derive(plan.name) }),
    );
    this.config = createConfig(this.chains, parts.plan.bridge);
    this.attestation = createAttestation(this.chains, parts);
    if (parts.hasEndpoints)
      this.endpoints = new SimEndpoints(parts.random.derive("endpoints"), ({ rule, subject }) =>
        parts.violate(rule, subject),
      );
    this.slots = Array.from({ length: parts.plan.processes }, () => undefined);
  }

  get startTimeS(): number {
    return START_MS / 1_000;
  }

  /** Processes that accept requests now. */
  get running(): RunningProcess[] {
    return this.slots.flatMap((slot) => (slot && !slot.process.hasCrashed ? [slot] : []));
  }

  /** Creates a process with its own world. No loop runs in it yet. */
  createProcess(name: string): RunningProcess {
    const { scheduler, random, database, faults, trace, onCommit } = this.parts;
    this.#generation += 1;
    const process = new SimProcess({ name, scheduler, random: random.derive(`process ${this.#generation}`) });
    process.databaseOffsetMs = this.databaseOffsetMs;
    const clock = createProcessClock(process, START_MS);
    const log = createTraceLogger(process, trace);
    const { db, assertOutside } = database.connect({ process, faults, onCommit });
    const attestation = this.attestation?.connect(process, this.#outsideGuard(process, assertOutside));
    const outbound = this.endpoints?.connect(process, this.#outsideGuard(process, assertOutside));
    const chains = new Map<Caip2, Chain>();
    for (const simulated of this.chains) {
      chains.set(simulated.chain.caip2, this.#openChain(simulated, { process, assertOutside, clock, log }));
    }
    const world: World = {
      config: this.config,
      db,
      clock,
      entropy: { bytes: (count) => (process.assertRunning(), process.random.bytes(count)) },
      wake: this.#createWake(process, clock),
      memory: new ProcessMemory(),
      catalog: buildCatalog(this.config),
      chains,
      ...(outbound && { outbound }),
      ...(attestation && { bridge: createAttestationClient(attestation) }),
      log,
    };
    return { process, world };
  }

  /** Starts the service in a slot. After a crash it restarts by itself. */
  startService(slot: number): void {
    const { trace, violate, scheduler, random } = this.parts;
    const running = this.createProcess(`process-${slot}`);
    running.process.slowdown = this.parts.plan.slowdown;
    this.slots[slot] = running;
    trace.append(running.process.name, "starts");
    const { process, world } = running;
    runLoops(world, new AbortController().signal).then(
      () => violate("a loop ended by itself", process.name),
      (error: unknown) => {
        process.crash();
        if (process.ignoresCrash) violate("a process continues after its crash", process.name);
        else if (!(error instanceof ProcessCrashed)) violate("a loop failed", `${process.name}: ${String(error)}`);
        trace.append(process.name, "ends");
        if (this.slots[slot] !== running) return;
        this.slots[slot] = undefined;
        scheduler.after(random.derive("restart").between(500, 20_000), () => this.startService(slot));
      },
    );
  }

  /** Delays signals to loops and merges several into one. Only the number of empty polls changes. */
  #createWake(process: SimProcess, clock: Clock): Wake {
    const { scheduler, plan } = this.parts;
    const wake = createWake(clock);
    const pending = new Set<string>();
    const delayMs = (topic: string) => {
      // A late head adds nothing, because polling finds the block first.
      if (topic.startsWith("heads:")) return Math.min(plan.wakeDelayMs, HEADS_WAKE_MS);
      return topic === "events" ? plan.wakeDelayMs * 4 : plan.wakeDelayMs;
    };
    return {
      notify(topic) {
        if (process.hasCrashed || pending.has(topic)) return;
        pending.add(topic);
        scheduler.after(delayMs(topic), () => {
          pending.delete(topic);
          if (process.hasCrashed) return false;
          wake.notify(topic);
          return true;
        });
      },
      wait: (topic, options) => wake.wait(topic, options),
    };
  }

  #openChain({ nodes, plan, chain }: SimChain, { process, assertOutside, clock, log }: ChainSurroundings): Chain {
    const { faults } = this.parts;
    const context = { process, faults, assertCallAllowed: this.#outsideGuard(process, assertOutside) };
    const feeds = plan.pushesHeads ? nodes.map((node) => openSimHeadFeed(node, process)) : [];
    if (plan.kind === "oneShot") {
      const Provider = plan.isReadByAccounts ? SimAccountsProvider : SimOneShotProvider;
      const providers = atLeastOne(nodes.map((node) => new Provider(node, context)));
      return createOneShotChain({ nodes: providers, payer: GAS_ADDRESS, feeds }, { clock, log });
    }
    const providers = atLeastOne(nodes.map((node) => new SimEvmProvider(node, context)));
    const transmitter = chain.bridge && { transmitter: chain.bridge.transmitter as Hex };
    const parts = { nodes: providers, gasAccount, feeds, maxFeePerGas: MAX_FEE_PER_GAS, ...transmitter };
    return createEvmChain(parts, { clock, log });
  }

  /** Checks that a process calls nothing foreign inside a transaction, or after its end. */
  #outsideGuard(process: SimProcess, assertOutside: () => void): (call: string) => void {
    return (call) => {
      process.assertRunning();
      try {
        assertOutside();
      } catch {
        this.parts.violate("a foreign call inside a transaction", `${process.name}: ${call}`);
      }
    };
  }
}

type ChainSurroundings = { process: SimProcess; assertOutside: () => void; clock: Clock; log: Logger };

function atLeastOne<T>([first, ...others]: readonly T[]): [T, ...T[]] {
  if (first === undefined) throw new Error("the chain has no provider");
  return [first, ...others];
}

/** The bridge's contracts on a chain, whose first token it carries. */
function bridgeSide({ chainId }: ChainPlan, domain: number): Parameters<typeof createBridges>[0][number] {
  return {
    messenger: addressOf(0xe000 + domain),
    transmitter: addressOf(0xe100 + domain),
    minter: addressOf(0xe200 + domain),
    feeRecipient: addressOf(0xe300 + domain),
    token: tokenAddress(chainId, 0),
    owner: TOKEN_OWNER,
  };
}

function tokenAddress(chainId: number, index: number): `0x${string}` {
  return addressOf(0xc000 + (chainId % 16) * 16 + index);
}

function createAttestation(chains: readonly SimChain[], parts: SimWorldParts): AttestationNetwork | undefined {
  const { plan, scheduler, faults, violate } = parts;
  if (plan.bridge === undefined) return undefined;
  const nowMs = () => scheduler.nowMs;
  const signing = parts.random.derive("signing");
  const { expiredShare } = plan.bridge;
  const isSignedLate = () => {
    const isLate = signing.chance(expiredShare);
    if (isLate) parts.trace.append("bridge", "signs a proof that has expired");
    return isLate;
  };
  const service = new AttestationService({ plan: plan.bridge, chains, nowMs, startMs: START_MS, isSignedLate });
  return new AttestationNetwork({ service, faults, violate });
}

function createSimChain(
  plan: ChainPlan,
  { bridge, random }: { bridge: BridgeSpec | undefined; random: SeededRandom },
): SimChain {
  const tokens = plan.tokens.map((token, index) => ({
    ...token,
    address: tokenAddress(plan.chainId, index),
  }));
  const specs: TokenSpec[] = tokens.map(({ address, symbol, decimals, kind }) => ({
    address,
    symbol,
    decimals,
    kind,
    owner: TOKEN_OWNER,
    minter: bridge?.token === address ? bridge.minter : undefined,
  }));
  const payers = Array.from({ length: PAYERS }, (_, index) => payerAddress(index));
  const chain = new ScriptedChain({
    chainId: plan.chainId,
    tokens: specs,
    bridge,
    startAtS: START_MS / 1_000,
    finalityLag: plan.finalityLag,
    repeatsTimes: plan.repeatsTimes,
    units: specs.flatMap(({ address }) => payers.map((owner) => ({ token: address, owner, units: PAYER_UNITS }))),
    wei: [{ address: GAS_ADDRESS, wei: GAS_WEI }],
  });
  const omitted = new Set<string>();
  const unreadable = { payments: new Map(), strangers: new Map(), inboxes: new Map() };
  const nodes = Array.from(
    { length: plan.providers },
    (_, index) =>
      new SimNode({
        chain,
        name: `${plan.name}-${index}`,
        traits: plan,
        naming: namingOf(plan.kind),
        random: random.derive(`node ${index}`),
        omitted,
        unreadable,
        isAlone: plan.providers === 1,
      }),
  );
  return { plan, chain, nodes, tokens, hadDeepReorg: false, firstBlock: 0, attestedBlock: 0, haltedUntilMs: 0 };
}

function createConfig(chains: readonly SimChain[], bridge: BridgePlan | undefined): Config {
  return {
    environment: "test",
    baseUrl: "http://127.0.0.1:8787",
    listen: { host: "127.0.0.1", port: 0 },
    database: { kind: "pglite", directory: undefined },
    feeRecipient: FEE_RECIPIENT,
    chains: chains.map((chain) => createChainConfig(chain, bridge)),
    ...(bridge && { bridge: { attestationUrl: "http://attestation", fastFeePpmMax: FAST_FEE_PPM_MAX } }),
    defaultRail: "alpha:usdc",
    logLevel: "silent",
  };
}

function createChainConfig({ plan, chain, tokens }: SimChain, bridge: BridgePlan | undefined): EvmChainConfig {
  const slug = plan.name.toLowerCase();
  return {
    caip2: chain.caip2,
    chainId: plan.chainId,
    name: plan.name,
    slug,
    rpcUrls: [`http://${slug}`],
    publicRpcUrl: `http://${slug}`,
    explorerUrl: `http://${slug}`,
    native: { name: "Ether", symbol: "ETH", decimals: 18 },
    gasKey: GAS_KEY,
    pollMs: plan.pollMs,
    finality: plan.finality,
    agreement: plan.agreement,
    settleAfterMs: plan.settleAfterMs,
    settleBatchMax: plan.settleBatchMax,
    maxFeePerGas: MAX_FEE_PER_GAS,
    tokens: tokens
      .filter(({ isUnconfigured }) => !isUnconfigured)
      .map(({ symbol, address, decimals, minimumUnits, isRail }) => ({
        symbol,
        slug: symbol.toLowerCase(),
        address,
        decimals,
        minimumUnits,
        isOrigin: true,
        isRail,
        ...(chain.bridge?.token === address && { bridge: "cctp-v2" as const }),
      })),
    ...(chain.bridge && { cctp: chain.bridge as CctpV2Contracts }),
    ...(bridge && { estimates: { finalizedMs: bridge.finalizedMs } }),
    defaultToken: "USDC",
  };
}
