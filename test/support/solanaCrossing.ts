import { readFileSync } from "node:fs";
import { solanaCctpDomain } from "@tributary/inbox/cctpV2Chains";
import { cctpMessenger, cctpTransmitter } from "@tributary/inbox/solana/cctp";
import { deriveTokenAccount } from "@tributary/inbox/solana/derive";
import { toMessageAccount } from "@tributary/inbox/burnMessage";
import { pino } from "pino";
import { encodeFunctionData, hexToBytes, parseAbi, type Hex } from "viem";
import { receiveCrossings } from "../../src/bridge/receiveCrossings.ts";
import { trackCrossings } from "../../src/bridge/trackCrossings.ts";
import { buildCatalog } from "../../src/catalog/catalog.ts";
import type { Chain } from "../../src/chain/chain.ts";
import { openAttestationClient } from "../../src/chain/evm/bridge/attestationClient.ts";
import { openEvmChain } from "../../src/chain/evm/openEvmChain.ts";
import { openSolanaChain } from "../../src/chain/solana/openSolanaChain.ts";
import type { Config, SolanaChainConfig } from "../../src/config/config.ts";
import type { Db } from "../../src/db/database.ts";
import { startAttestationServer, type AttestationServer } from "../../src/dev/attestation/attestationServer.ts";
import { solanaSide } from "../../src/dev/attestation/solanaSide.ts";
import { deployLocalBridge, localBridge, type BridgeSide } from "../../src/dev/chains/bridge.ts";
import { sendCallsOrThrow } from "../../src/dev/chains/devClient.ts";
import { DEV_ACCOUNTS } from "../../src/dev/devAccounts.ts";
import { issueSourceInbox, type SourceInboxRecord } from "../../src/inbox/issueSourceInbox.ts";
import { createIntent, type CreateIntentInput } from "../../src/intent/createIntent.ts";
import type { IntentRow } from "../../src/intent/store.ts";
import { systemClock, type Clock } from "../../src/kernel/clock.ts";
import { systemEntropy } from "../../src/kernel/entropy.ts";
import { ProcessMemory } from "../../src/kernel/processMemory.ts";
import { createWake } from "../../src/kernel/wake.ts";
import { createAccount } from "../../src/merchant/createAccount.ts";
import { landCrossings } from "../../src/settlement/crossing/landCrossings.ts";
import { suspendMints } from "../../src/settlement/crossing/suspendMints.ts";
import type { SettlementRow } from "../../src/settlement/settlement.ts";
import { preparePasses } from "../../src/watch/reconcile/reconcileBalances.ts";
import type { World } from "../../src/world.ts";
import { LOCAL_MINTS, SOLANA_ACCOUNTS } from "../../packages/local-solana/src/fixtures.ts";
import { createTokenAccount } from "../../packages/local-solana/src/instructions.ts";
import { installBridge } from "../../packages/local-solana/src/installBridge.ts";
import type { Keypair } from "../../packages/local-solana/src/keypairs.ts";
import { startLocalSolana, type LocalSolana } from "../../packages/local-solana/src/startLocalSolana.ts";
import { bridgedChain, tickChain } from "./bridgedRoad.ts";
import { startTestChain, type TestChain } from "./chain.ts";
import { openTestDatabase } from "./database.ts";
import { assertAllChecks } from "./ledgerAssertions.ts";
import { createWallet, payTokens } from "./solana.ts";
import { runLoopsOnce, solanaConfig, type SolanaRoadOptions } from "./solanaRoad.ts";

// The road of an EVM chain and a local Solana that a bridge joins. Every loop runs by hand, and so do blocks and slots.

const FEE_BPS = 50;
const ROUNDS_MAX = 120;
const ROUND_MS = 2_000;
const HOME_CHAIN_ID = 900_001;
const TRANSMITTER = parseAbi(["function receiveMessage(bytes message, bytes attestation) returns (bool success)"]);
const USDC = LOCAL_MINTS.USDC;
let roads = 0;

export type SolanaCrossingRoad = {
  readonly db: Db;
  readonly world: World;
  readonly home: TestChain;
  readonly side: BridgeSide;
  readonly solana: LocalSolana;
  readonly attestation: AttestationServer;
  /** The service's fee payer on Solana. */
  readonly payer: Keypair;
  advance(ms: number): void;
  /** With an EVM payout. */
  create(input?: CreateIntentInput): Promise<IntentRow>;
  /** For an account without a recovery key on Solana. */
  createWithoutRecovery(): Promise<IntentRow>;
  /** With a payout on Solana; `recovery` null for an account without a recovery key on EVM chains. */
  createOnSolana(input?: CreateIntentInput, recovery?: null): Promise<IntentRow>;
  /** The payout wallet on Solana. */
  readonly payoutOnSolana: string;
  /** Issues the inbox on the EVM chain. */
  issueOnEvm(intent: IntentRow): Promise<SourceInboxRecord>;
  /** Pays on the EVM chain. Returns the transaction's hash. */
  payOnEvm(inbox: { address: string }, units: bigint): Promise<string>;
  /** False leaves what is proven to strangers. */
  setReceiving(isReceiving: boolean): void;
  /** Receives a proven message on the EVM chain, as a stranger. */
  receive(proof: { message: string; attestation: string }): Promise<void>;
  /** Issues the inbox on Solana. */
  issue(intent: IntentRow): Promise<SourceInboxRecord>;
  /** Pays as a wallet does. Returns the signature. */
  pay(inbox: { address: string }, units: bigint): string;
  /** Runs each loop once. */
  tick(): Promise<void>;
  restart(): void;
  /** Runs all loops, a block and a slot each round, until the condition holds. Throws when it does not. */
  until(condition: () => Promise<boolean>): Promise<void>;
  untilLanded(intent: { id: string }, count?: number): Promise<void>;
  intent(of: { id: string }): Promise<IntentRow>;
  settlements(intent: { id: string }): Promise<SettlementRow[]>;
  /** Balances of payout, fee recipient and inbox in USDC of the EVM chain. */
  balances(intent: IntentRow): Promise<{ payout: bigint; fee: bigint; inbox: bigint }>;
  /** What an owner's derived account holds of USDC on Solana. */
  unitsOf(owner: string): bigint;
  close(): Promise<void>;
};

export type SolanaCrossingOptions = Pick<SolanaRoadOptions, "priming" | "db" | "rpcUrls"> & {
  /** Whether Solana is so slow to be final that a fast crossing is worth its fee. Default true. */
  isFast?: boolean;
};

export async function openSolanaCrossing(options: SolanaCrossingOptions = {}): Promise<SolanaCrossingRoad> {
  const { isFast = true } = options;
  const [db, home, solana] = await Promise.all([
    options.db ?? openTestDatabase("postgres"),
    startTestChain({ chainId: HOME_CHAIN_ID }),
    startLocalSolana({ clock: systemClock, slotMs: 0, name: `crossing ${(roads += 1)}`, finalizedAfter: 4 }),
  ]);
  let aheadMs = 0;
  let isReceiving = true;
  const clock: Clock = {
    ...systemClock,
    now: () => new Date(systemClock.now().getTime() + aheadMs),
    monotonicMs: () => systemClock.monotonicMs() + aheadMs,
  };
  const side: BridgeSide = {
    chainId: home.chainId,
    client: home.client,
    token: home.usdc.address,
    bridge: localBridge(home.chainId, 0),
  };
  const word = (address: string) => hexToBytes(toMessageAccount(address) as Hex);
  installBridge(solana, {
    elf: new Uint8Array(readFileSync(new URL("../../programs/build/cctp.so", import.meta.url))),
    mint: USDC.address,
    attesters: [word(DEV_ACCOUNTS.attester.address)],
    remotes: [{ domain: 0, messenger: word(side.bridge.messenger), token: word(side.token) }],
  });
  const foreign = {
    domain: solanaCctpDomain,
    messenger: toMessageAccount(cctpMessenger) as Hex,
    token: toMessageAccount(USDC.address) as Hex,
  };
  await deployLocalBridge([side], [foreign]);
  const attestation = await startAttestationServer([side], {
    now: () => clock.now().getTime(),
    others: [solanaSide(solana.url)],
  });
  const payer = createWallet(solana, 10_000_000_000n);
  const { address: payoutOnSolana } = createWallet(solana, 0n);
  const { operator, feeRecipient } = SOLANA_ACCOUNTS;
  solana.control.send(
    [operator],
    [feeRecipient.address, payoutOnSolana].map((owner) =>
      createTokenAccount(operator.address, { owner, mint: USDC.address }),
    ),
  );
  solana.control.finalize();
  const rpcUrls = (await options.rpcUrls?.(solana.url)) ?? [solana.url];
  const { url: attestationUrl } = attestation;
  const config = crossingConfig({ home, side, solana, payer, rpcUrls, attestationUrl, isFast, options });
  const log = pino({ level: process.env["ROAD_LOG"] ?? "silent" });
  const bridge = openAttestationClient(attestation.url);
  const [evmConfig, solanaChainConfig] = config.chains as [Parameters<typeof openEvmChain>[0], SolanaChainConfig];
  const startProcess = (): World => {
    const chains = [
      openEvmChain(evmConfig, { clock, log }, config.chains),
      openSolanaChain(solanaChainConfig, { clock, log }),
    ];
    return {
      config,
      db,
      clock,
      entropy: systemEntropy,
      wake: createWake(clock),
      memory: new ProcessMemory(),
      catalog: buildCatalog(config),
      chains: new Map(chains.map((chain) => [chain.caip2, chain] as const)),
      bridge,
      log,
    };
  };
  let world = startProcess();
  const chainOf = (caip2: string): Chain => {
    const chain = world.chains.get(caip2 as Chain["caip2"]);
    if (chain === undefined) throw new Error(`the road has no ${caip2}`);
    return chain;
  };
  const terms = {
    name: "Merchant",
    feeBps: FEE_BPS,
    payout: {
      namespace: "eip155",
      chainReference: String(home.chainId),
      wallet: DEV_ACCOUNTS.payoutFirst.address,
      currency: "USDC",
    },
  } as const;
  const account = await createAccount(world, { ...terms, solanaRecovery: SOLANA_ACCOUNTS.recoveryFirst.address });
  const onSolana = {
    name: "Merchant on Solana",
    feeBps: FEE_BPS,
    payout: {
      namespace: "solana",
      chainReference: solana.reference,
      wallet: payoutOnSolana,
      currency: "USDC",
    },
  } as const;
  const solanaAccount = await createAccount(world, { ...onSolana, recovery: DEV_ACCOUNTS.recoveryFirst.address });
  const tick = async () => {
    await runLoopsOnce(world, chainOf(solanaChainConfig.caip2));
    await landCrossings(world, solanaChainConfig.caip2);
    await suspendMints(world, solanaChainConfig.caip2);
    await tickChain(world, chainOf(home.caip2));
    await trackCrossings(world, bridge);
    for (const chain of world.chains.values()) {
      if (isReceiving) await receiveCrossings(world, chain);
      await chain.sender.process(world);
    }
  };
  const until = async (condition: () => Promise<boolean>) => {
    for (let rounds = 0; rounds < ROUNDS_MAX; rounds += 1) {
      if (await condition()) return;
      await tick();
      solana.control.nextSlot();
      await home.mine(1);
      aheadMs += ROUND_MS;
    }
    throw new Error("the condition does not hold after all rounds");
  };
  const settlements = ({ id }: { id: string }) =>
    db.root.selectFrom("settlement").selectAll().where("intent_id", "=", id).orderBy("seq").execute();
  await preparePasses(world, chainOf(solanaChainConfig.caip2));
  await tick();
  return {
    db,
    get world() {
      return world;
    },
    home,
    side,
    solana,
    attestation,
    payer,
    advance: (ms) => {
      aheadMs += ms;
    },
    create: async (input = {}) => (await createIntent(db.root, world, { account, input })).intent,
    createWithoutRecovery: async () => {
      const other = await createAccount(world, terms);
      return (await createIntent(db.root, world, { account: other, input: {} })).intent;
    },
    createOnSolana: async (input = {}, recovery) => {
      const other = recovery === null ? await createAccount(world, onSolana) : solanaAccount;
      return (await createIntent(db.root, world, { account: other, input })).intent;
    },
    payoutOnSolana,
    issueOnEvm: (intent) => issueSourceInbox(world, intent, { chainId: home.chainId }),
    payOnEvm: async ({ address }, amountUnits) =>
      (await home.pay(home.usdc.address, address.toLowerCase() as Hex, { amountUnits })).transactionHash,
    setReceiving: (value) => {
      isReceiving = value;
    },
    receive: async ({ message, attestation: signatures }) => {
      const args = [message as Hex, signatures as Hex] as const;
      const data = encodeFunctionData({ abi: TRANSMITTER, functionName: "receiveMessage", args });
      await sendCallsOrThrow(home.client, DEV_ACCOUNTS.stranger, [{ to: side.bridge.transmitter, data }]);
    },
    issue: (intent) =>
      issueSourceInbox(world, intent, { namespace: "solana", reference: solana.reference, mint: USDC.address }),
    pay: ({ address }, units) => payTokens(solana, { to: address, units }),
    tick,
    restart: () => {
      world = startProcess();
    },
    until,
    untilLanded: (intent, count = 1) =>
      until(async () => {
        const found = await settlements(intent);
        return found.length >= count && found.every(({ status }) => status === "landed");
      }),
    intent: ({ id }) => db.root.selectFrom("intent").selectAll().where("id", "=", id).executeTakeFirstOrThrow(),
    settlements,
    balances: async (intent) => {
      const balance = (owner: string) => home.balanceOf(home.usdc.address, owner as Hex);
      return {
        payout: await balance(DEV_ACCOUNTS.payoutFirst.address),
        fee: await balance(DEV_ACCOUNTS.feeRecipient.address),
        inbox: await balance(intent.inbox_address),
      };
    },
    unitsOf: (owner) => solana.control.units(deriveTokenAccount(owner, USDC.address, USDC.program).address),
    close: async () => {
      try {
        await assertAllChecks(db);
      } finally {
        await bridge.close();
        await attestation.stop();
        await db.close();
        await Promise.all([home.stop(), solana.stop()]);
      }
    },
  };
}

type ConfigParts = {
  home: TestChain;
  side: BridgeSide;
  solana: LocalSolana;
  payer: Keypair;
  rpcUrls: readonly string[];
  attestationUrl: string;
  isFast: boolean;
  options: SolanaCrossingOptions;
};

function crossingConfig({ home, side, solana, payer, attestationUrl, isFast, ...given }: ConfigParts): Config {
  const { rpcUrls, options } = given;
  const base = solanaConfig(solana, payer, { rpcUrls, priming: options.priming });
  const [cluster] = base.chains as [SolanaChainConfig];
  const bridged: SolanaChainConfig = {
    ...cluster,
    estimates: { finalizedMs: isFast ? 900_000 : 1_000 },
    tokens: cluster.tokens.map((token) => ({ ...token, bridge: "cctp-v2" })),
    cctp: { domain: solanaCctpDomain, messenger: cctpMessenger, transmitter: cctpTransmitter },
  };
  const chain = bridgedChain(home, { index: 0, bridge: side.bridge, isFast, nativeUsd: undefined });
  return {
    ...base,
    chains: [chain, bridged],
    bridge: { attestationUrl, fastFeePpmMax: 500 },
    defaultRail: "chain0:usdc",
  };
}
