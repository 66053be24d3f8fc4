import { LocalSolanaControl } from "./control.ts";
import { installFixtures } from "./fixtures.ts";
import { FIRST_SLOT, Ledger } from "./ledger/ledger.ts";
import type { LedgerOptions } from "./ledger/ledger.ts";
import { TransactionPool } from "./ledger/transactionPool.ts";
import { accountMethods } from "./rpc/accountMethods.ts";
import { blockMethods } from "./rpc/blockMethods.ts";
import { clusterMethods } from "./rpc/clusterMethods.ts";
import { sendMethods } from "./rpc/sendMethods.ts";
import { startRpcServer } from "./rpc/server.ts";
import { transactionMethods } from "./rpc/transactionMethods.ts";
import { serveSubscriptions } from "./socket/socketServer.ts";
import type { OpenedLedger } from "./storage/ledgerStore.ts";
import { openStoredLedger } from "./storage/ledgerStore.ts";

export type SlotClock = {
  now(): Date;
  /** Resolves after `durationMs`, or at once when `signal` aborts. */
  sleep(durationMs: number, signal?: AbortSignal): Promise<void>;
};

export type LocalSolanaOptions = {
  readonly clock: SlotClock;
  /** Milliseconds of a slot. Default 400, as on the public clusters. 0 leaves the slots to `control.nextSlot`. */
  readonly slotMs?: number;
  /** Blocks until a transaction is confirmed, at least 1. Default 1. */
  readonly confirmedAfter?: number;
  /** Blocks until it is finalized. Default 32, as on the public clusters. */
  readonly finalizedAfter?: number;
  /** Another name gives another genesis hash. */
  readonly name?: string;
  /** Default a free port. */
  readonly port?: number;
  /** Stores the chain here for the next run. Default it is gone when it stops. */
  readonly stateDirectory?: string;
  /** Refuses skipped slots as providers with long-term storage do. Default false. */
  readonly hasLongTermStorage?: boolean;
  /** Older blocks are forgotten. Default 50,000, which is 5.5 hours of public slots. */
  readonly blocksMax?: number;
  /** Older transactions are forgotten. Default 5,000, about 40 MB. */
  readonly transactionsMax?: number;
  /** What a byte of an account costs. Default 5,080 lamports, as on the public clusters. */
  readonly lamportsPerByte?: bigint;
};

export type LocalSolana = {
  readonly url: string;
  /** The same port as `url`. */
  readonly wsUrl: string;
  readonly genesisHash: string;
  /** The reference in CAIP-2: the first 32 characters of the genesis hash. */
  readonly reference: string;
  readonly control: LocalSolanaControl;
  /** Lets the process end although the chain runs. */
  unref(): void;
  /** Calls after the first one wait for the same end. */
  stop(): Promise<void>;
};

const LAMPORTS_PER_BYTE = 5_080n;
const SLOT_MS = 400;
const SECOND_MS = 1_000;
const REFERENCE_LENGTH = 32;

/** Starts a local chain in this process, with the inbox program, the mints and funded accounts of fixtures.ts. */
export async function startLocalSolana(options: LocalSolanaOptions): Promise<LocalSolana> {
  const { clock, slotMs = SLOT_MS, confirmedAfter = 1, finalizedAfter = 32, port = 0 } = options;
  const { name = "local", hasLongTermStorage = false, blocksMax = 50_000, transactionsMax = 5_000 } = options;
  const { lamportsPerByte = LAMPORTS_PER_BYTE } = options;
  const time = createBlockTime(clock, slotMs);
  const timeOfSlot = time.ofSlot;
  if (confirmedAfter < 1 || finalizedAfter < confirmedAfter)
    throw new RangeError("transactions are confirmed after at least one block, and finalized later");
  const ledgerOptions = {
    name,
    timeOfSlot,
    confirmedAfter,
    finalizedAfter,
    blocksMax,
    transactionsMax,
    lamportsPerByte,
  };
  const { ledger, close } = openLedger(ledgerOptions, options.stateDirectory);
  const pool = new TransactionPool(ledger);
  const control = new LocalSolanaControl(ledger, { pool, setTime: (seconds) => time.set(seconds, ledger.open.slot) });
  const methods = {
    ...clusterMethods(ledger),
    ...blockMethods(ledger, { hasLongTermStorage }),
    ...accountMethods(ledger),
    ...transactionMethods(ledger),
    ...sendMethods(ledger, { pool, airdrop: (to, lamports) => control.airdrop(to, lamports) }),
  };
  const rpc = await startRpcServer(methods, port);
  const closeSockets = serveSubscriptions(rpc.server, ledger, methods);
  const stopping = new AbortController();
  const slots = slotMs === 0 ? Promise.resolve() : runSlots(ledger, { clock, slotMs, signal: stopping.signal });
  const stop = async () => {
    stopping.abort();
    closeSockets();
    await Promise.all([rpc.close(), slots]);
    close();
  };
  let stopped: Promise<void> | undefined;
  const { genesisHash } = ledger;
  return {
    url: `http://127.0.0.1:${rpc.port}`,
    wsUrl: `ws://127.0.0.1:${rpc.port}`,
    genesisHash,
    reference: genesisHash.slice(0, REFERENCE_LENGTH),
    control,
    unref: () => rpc.unref(),
    stop: () => (stopped ??= stop()),
  };
}

function openLedger(options: LedgerOptions, directory: string | undefined): OpenedLedger {
  if (directory !== undefined) return openStoredLedger(directory, options, installFixtures);
  const ledger = new Ledger(options);
  installFixtures(ledger);
  return { ledger, close: () => undefined };
}

type SlotOptions = { readonly clock: SlotClock; readonly slotMs: number; readonly signal: AbortSignal };

async function runSlots(ledger: Ledger, { clock, slotMs, signal }: SlotOptions): Promise<void> {
  while (!signal.aborted) {
    await clock.sleep(slotMs, signal);
    if (!signal.aborted) ledger.nextSlot();
  }
}

/** The time of the clock; by hand, 400 milliseconds a slot. */
function createBlockTime(clock: SlotClock, slotMs: number) {
  const read = (slot: number) => (slotMs === 0 ? slot * SLOT_MS : clock.now().getTime());
  let offsetMs = slotMs === 0 ? clock.now().getTime() - FIRST_SLOT * SLOT_MS : 0;
  return {
    ofSlot: (slot: number) => Math.floor((read(slot) + offsetMs) / SECOND_MS),
    set: (unixSeconds: number, slot: number) => {
      offsetMs = unixSeconds * SECOND_MS - read(slot);
    },
  };
}
