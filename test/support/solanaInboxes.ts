import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { computeSolanaInbox, type SolanaInbox } from "@tributary/inbox/solana/address";
import { readonlyMeta, signerMeta, writableMeta, writableSignerMeta } from "@tributary/inbox/solana/instructions";
import type { SolanaInstruction } from "@tributary/inbox/solana/instructions";
import { decodeKey, noKey, systemProgram, tokenProgram } from "@tributary/inbox/solana/keys";
import type { SolanaPayTerms } from "@tributary/inbox/solana/terms";
import { openSolanaReader, type SolanaReader } from "../../src/chain/solana/read/solanaReader.ts";
import { LOCAL_INBOX_PROGRAM, LOCAL_MINTS, SOLANA_ACCOUNTS } from "../../packages/local-solana/src/fixtures.ts";
import { createTokenAccount, findTokenAccount, transferTokens } from "../../packages/local-solana/src/instructions.ts";
import { deriveKeypair } from "../../packages/local-solana/src/keypairs.ts";
import {
  startLocalSolana,
  type LocalSolana,
  type LocalSolanaOptions,
} from "../../packages/local-solana/src/startLocalSolana.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import type { Transfer } from "../../src/chain/reader.ts";
import { createWallet, payTokens } from "./solana.ts";

// Inboxes on the local Solana, and instructions beyond those of ordinary wallets.

export const USDC = LOCAL_MINTS.USDC.address;
const MINTS = [USDC, LOCAL_MINTS.USDT.address, LOCAL_MINTS.DUSD.address];
const { feeRecipient, operator, payer } = SOLANA_ACCOUNTS;
const FEE_BPS = 100;
const ACCOUNT_BYTES = 165;
const PROXY_PROGRAM = new URL("../../programs/build/thief.so", import.meta.url);
const LOADER = "BPFLoader2111111111111111111111111111111111";

/** Inboxes of one payout wallet, so that one instruction may settle several. */
export class TestInboxes {
  readonly feeAccount: string;
  readonly payout: string;
  readonly #solana: LocalSolana;
  #salts = 0;

  constructor(solana: LocalSolana) {
    this.#solana = solana;
    this.payout = createWallet(solana).address;
    this.feeAccount = findTokenAccount({ owner: feeRecipient.address, mint: USDC });
    this.#openAccounts([feeRecipient.address, this.payout]);
  }

  create(change: Partial<SolanaPayTerms> = {}, program: string = tokenProgram): SolanaInbox {
    this.#salts += 1;
    const salt = createHash("sha256").update(`${this.payout} ${this.#salts}`).digest("hex");
    const terms: SolanaPayTerms = {
      kind: "pay",
      mint: USDC,
      salt: `0x${salt}`,
      payout: this.payout,
      feeAccount: this.feeAccount,
      feeBps: FEE_BPS,
      rentRecipient: operator.address,
      recovery: noKey,
      recoverAfter: 0,
      ...change,
    };
    return computeSolanaInbox(terms, { program: LOCAL_INBOX_PROGRAM, tokenProgram: program });
  }

  #openAccounts(owners: readonly string[]): void {
    const opening = owners.map((owner) => createTokenAccount(operator.address, { owner, mint: USDC }));
    this.#solana.control.send([operator], opening);
  }
}

/** The local chain as its provider shows it. */
function openTestReader(solana: LocalSolana, url = solana.url): SolanaReader {
  return openSolanaReader({ caip2: `solana:${solana.reference}`, url, program: LOCAL_INBOX_PROGRAM });
}

/** Closes a token account that is empty; its rent goes to `to`. */
export function closeAccount(account: string, to: string, owner: string): SolanaInstruction {
  return {
    program: tokenProgram,
    accounts: [writableMeta(account), writableMeta(to), signerMeta(owner)],
    data: Uint8Array.of(9),
  };
}

/** Transfers without naming the mint, as old wallets do. */
export function plainTransfer(from: string, to: string, units: bigint): SolanaInstruction {
  const data = Buffer.alloc(9);
  data.writeUInt8(3);
  data.writeBigUInt64LE(units, 1);
  const accounts = [writableMeta(from), writableMeta(to), signerMeta(payer.address)];
  return { program: tokenProgram, accounts, data: new Uint8Array(data) };
}

/** Creates a token account at the address of a key, which signs. */
export function createOwnAccount({ account, owner, mint }: { account: string; owner: string; mint: string }) {
  const create = Buffer.alloc(20);
  create.writeBigUInt64LE(10_000_000n, 4);
  create.writeBigUInt64LE(BigInt(ACCOUNT_BYTES), 12);
  const space = Uint8Array.from([...create, ...decodeKey("program", tokenProgram)]);
  return [
    { program: systemProgram, accounts: [writableSignerMeta(payer.address), writableSignerMeta(account)], data: space },
    {
      program: tokenProgram,
      accounts: [writableMeta(account), readonlyMeta(mint)],
      data: Uint8Array.from([18, ...decodeKey("owner", owner)]),
    },
  ];
}

/** A program that calls the instruction that it is given, with all privileges of the transaction. */
export function installProxyProgram({ control }: LocalSolana): (inner: SolanaInstruction) => SolanaInstruction {
  const { address: program } = deriveKeypair("proxy program");
  control.setAccount(program, { owner: LOADER, data: readFileSync(PROXY_PROGRAM), isExecutable: true });
  return ({ program: target, accounts, data }) => ({
    program,
    accounts: [...accounts, readonlyMeta(target)],
    data,
  });
}

/** The token account of a token account: where money is sent by mistake. */
export function nestedAccount(inbox: SolanaInbox): string {
  return findTokenAccount({ owner: inbox.tokenAccount, mint: inbox.terms.mint });
}

/** Transfers without what differs from run to run. */
export function shorten(transfers: readonly Transfer[]) {
  return transfers.map(({ from, to, amountText, identity }) => ({ from, to, units: Number(amountText), identity }));
}

/** A local chain of its own with a reader, and what tests of the reader do to it. */
export class ReaderScene {
  readonly solana: LocalSolana;
  readonly reader: SolanaReader;
  readonly inboxes: TestInboxes;
  readonly payerAccount = findTokenAccount({ owner: payer.address, mint: USDC });

  private constructor(solana: LocalSolana, url: string) {
    this.solana = solana;
    this.reader = openTestReader(solana, url);
    this.inboxes = new TestInboxes(solana);
  }

  /** `front`: starts a provider in front of the node and returns its URL. */
  static async open(
    options: Partial<LocalSolanaOptions> = {},
    front?: (url: string) => Promise<string>,
  ): Promise<ReaderScene> {
    const solana = await startLocalSolana({ clock: systemClock, slotMs: 0, ...options });
    return new ReaderScene(solana, front ? await front(solana.url) : solana.url);
  }

  async close(): Promise<void> {
    await this.reader.close();
    await this.solana.stop();
  }

  send(...instructions: SolanaInstruction[]): string {
    return this.solana.control.send([payer], instructions);
  }

  /** Pays as a wallet does. */
  pay(inbox: SolanaInbox, units: bigint): string {
    return payTokens(this.solana, { to: inbox.address, units });
  }

  /** Creates the token account of an inbox. */
  open({ address: owner, tokenProgram: program, terms }: SolanaInbox): SolanaInstruction {
    return createTokenAccount(payer.address, { owner, mint: terms.mint, program });
  }

  transfer(to: string, units: bigint): SolanaInstruction {
    return transferTokens({ from: this.payerAccount, to, owner: payer.address, mint: USDC, units });
  }

  /** The first slot of what follows. */
  startBlock(): bigint {
    this.solana.control.nextSlot();
    return BigInt(this.solana.control.slot);
  }

  /** Everything from `fromBlock` to the confirmed head: of an inbox, or of the inbox program. */
  async list(inbox?: SolanaInbox, fromBlock = 0n): Promise<Transfer[]> {
    this.solana.control.confirm();
    const { number: toBlock } = await this.reader.head("latest");
    return this.reader.transfers({ fromBlock, toBlock }, MINTS, inbox && [inbox.address]);
  }

  async unitsOf({ terms, address }: SolanaInbox): Promise<bigint | undefined> {
    return (await this.reader.holdings(terms.mint, [address])).units[0];
  }
}
