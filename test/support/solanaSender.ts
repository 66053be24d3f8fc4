import { encodeBase58 } from "@tributary/inbox/solana/base58";
import { computeSolanaInbox } from "@tributary/inbox/solana/address";
import { deriveTokenAccount } from "@tributary/inbox/solana/derive";
import { decodeKey, noKey } from "@tributary/inbox/solana/keys";
import type { SolanaPayTerms } from "@tributary/inbox/solana/terms";
import type { Hex } from "@tributary/inbox/terms";
import type { Logger } from "pino";
import { Providers } from "../../src/chain/providers.ts";
import type { SettleItem } from "../../src/chain/sender.ts";
import type { SolanaNode } from "../../src/chain/solana/node.ts";
import { openSolanaReader } from "../../src/chain/solana/read/solanaReader.ts";
import { openFeePayer, type FeePayer } from "../../src/chain/solana/send/feePayer.ts";
import { createSenderContext, type SolanaSenderContext } from "../../src/chain/solana/send/senderContext.ts";
import { SolanaSender } from "../../src/chain/solana/send/solanaSender.ts";
import type { Db } from "../../src/db/database.ts";
import { LOCAL_INBOX_PROGRAM, LOCAL_MINTS, SOLANA_ACCOUNTS } from "../../packages/local-solana/src/fixtures.ts";
import { createTokenAccount } from "../../packages/local-solana/src/instructions.ts";
import type { Keypair } from "../../packages/local-solana/src/keypairs.ts";
import type { LocalSolana } from "../../packages/local-solana/src/startLocalSolana.ts";
import { caip2 } from "../../src/kernel/caip.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { createWallet, payTokens, startTestSolana } from "./solana.ts";

// A sender on a local chain, whose payer is the rent recipient of every inbox.

const FEE_BPS = 50;
const PRICE_MAX = 1_000_000n;
const RECOVER_AFTER = 1_900_000_000;

/** Replaces the answer to one JSON-RPC call; undefined leaves it. */
export type FalseAnswer = (method: string, params: readonly unknown[]) => Promise<unknown> | undefined;

type SolanaItem = SettleItem & { terms: SolanaPayTerms; tokenProgram: string };

export type SenderScene = {
  readonly solana: LocalSolana;
  readonly world: { db: Db; clock: typeof systemClock; log: Logger };
  readonly context: SolanaSenderContext;
  readonly sender: SolanaSender;
  readonly payer: Keypair;
  newItem: (change?: ItemChange) => SolanaItem;
  /** An item whose deposit is confirmed. */
  paidItem: (units: bigint, change?: ItemChange) => SolanaItem;
  /** Prepares and stores a settlement; returns its id. */
  store: (items: readonly SettleItem[]) => Promise<bigint>;
  /** Processes, until everything sent so far is final and closed. */
  settle: () => Promise<void>;
  statusOf: (id: bigint) => Promise<string | undefined>;
  /** What a wallet or inbox owns of a mint. */
  unitsOf: (owner: string, mint?: (typeof LOCAL_MINTS)["USDC"]) => bigint;
};

type ItemChange = Partial<SolanaPayTerms> & { tokenProgram?: string };

export type SceneOptions = {
  db: Db;
  log: Logger;
  /** One for each provider; undefined for an honest one. Default one honest provider. */
  providers?: readonly (FalseAnswer | undefined)[];
  computeUnitPriceMax?: bigint;
  name?: string;
  finalizedAfter?: number;
  lamportsPerByte?: bigint;
};

let salts = 0;

export async function openSenderScene(options: SceneOptions): Promise<SenderScene> {
  salts += 1;
  const { db, log, providers = [undefined], name = `sender ${salts}`, finalizedAfter = 4 } = options;
  const solana = await startTestSolana({
    name,
    finalizedAfter,
    ...(options.lamportsPerByte === undefined ? {} : { lamportsPerByte: options.lamportsPerByte }),
  });
  const { control } = solana;
  const world = { db, clock: systemClock, log };
  const payer = createWallet(solana);
  const { feeRecipient, operator } = SOLANA_ACCOUNTS;
  const { address: usdc } = LOCAL_MINTS.USDC;
  const createFeeAccount = createTokenAccount(operator.address, { owner: feeRecipient.address, mint: usdc });
  control.send([operator], [createFeeAccount]);
  control.finalize();
  const [first, ...others] = providers.map((falseAnswer, index) => openProvider(solana, index, falseAnswer));
  if (first === undefined) throw new Error("a scene needs a provider");
  const context = createSenderContext(new Providers([first, ...others], world), {
    feePayer: openTestFeePayer(payer),
    program: LOCAL_INBOX_PROGRAM,
    feeRecipient: feeRecipient.address,
    tokenPrograms: new Map(Object.values(LOCAL_MINTS).map(({ address, program }) => [address, program])),
    computeUnitPriceMax: options.computeUnitPriceMax ?? PRICE_MAX,
  });
  const sender = new SolanaSender(context);
  const newItem = ({ payout = createWallet(solana, 0n).address, ...change }: ItemChange = {}) =>
    payInboxOf(payer.address, { payout, ...change });
  const statusOf = async (id: bigint) => {
    const rows = await db.root.selectFrom("outgoing_transaction").select(["id", "status"]).execute();
    return rows.find((row) => row.id === id)?.status;
  };
  return {
    solana,
    world,
    context,
    sender,
    payer,
    newItem,
    paidItem: (units, change) => {
      const item = newItem(change);
      payTokens(solana, { to: item.inbox, units, mint: item.token, program: item.tokenProgram });
      control.confirm();
      return item;
    },
    store: async (items) => {
      const prepared = await sender.prepare(world, items);
      if (prepared === undefined) throw new Error("the fees exceed the ceiling");
      return db.transaction((tx) => prepared.store(tx, systemClock.now()));
    },
    settle: async () => {
      await sender.process(world);
      control.finalize();
      control.nextSlot();
      await sender.process(world);
    },
    statusOf,
    unitsOf: (owner, { address, program } = LOCAL_MINTS.USDC) => {
      const account = control.account(deriveTokenAccount(owner, address, program).address);
      return account === undefined ? 0n : Buffer.from(account.data).readBigUInt64LE(64);
    },
  };
}

/** Several providers differ by name, as if they were of several hosts. */
function openProvider(solana: LocalSolana, index: number, falseAnswer: FalseAnswer = () => undefined): SolanaNode {
  const chain = caip2("solana", solana.reference);
  const node = openSolanaReader({ caip2: chain, url: solana.url, program: LOCAL_INBOX_PROGRAM });
  const request = (method: string, params: readonly unknown[]) =>
    falseAnswer(method, params) ?? node.request(method, params);
  const changed = { request, name: `provider ${index}` };
  return new Proxy(node, {
    get(target, key) {
      const value: unknown = Reflect.get(changed, key) ?? Reflect.get(target, key, target);
      return typeof value === "function" ? (value as (...args: unknown[]) => unknown).bind(target) : value;
    },
  });
}

export function openTestFeePayer({ seed, address }: Keypair): FeePayer {
  return openFeePayer(encodeBase58(Uint8Array.from([...seed, ...decodeKey("payer", address)])));
}

/** A new inbox on the local chain. */
export function payInboxOf(
  rentRecipient: string,
  { tokenProgram = LOCAL_MINTS.USDC.program, ...change }: ItemChange & { payout: string },
): SolanaItem {
  salts += 1;
  const mint = change.mint ?? LOCAL_MINTS.USDC.address;
  const terms: SolanaPayTerms = {
    kind: "pay",
    salt: saltOf(salts),
    mint,
    feeAccount: deriveTokenAccount(SOLANA_ACCOUNTS.feeRecipient.address, mint, tokenProgram).address,
    feeBps: FEE_BPS,
    rentRecipient,
    recovery: noKey,
    recoverAfter: RECOVER_AFTER,
    ...change,
  };
  const { address: inbox } = computeSolanaInbox(terms, { program: LOCAL_INBOX_PROGRAM, tokenProgram });
  return { inbox, token: mint, hub: LOCAL_INBOX_PROGRAM, terms, tokenProgram };
}

function saltOf(number: number): Hex {
  return `0x${number.toString(16).padStart(64, "0")}`;
}
