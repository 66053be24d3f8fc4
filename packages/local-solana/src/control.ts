import { createHash } from "node:crypto";
import type { SolanaInstruction } from "@tributary/inbox/solana/instructions";
import { decodeKey, encodeKey, systemProgram } from "@tributary/inbox/solana/keys";
import { encodeMessage, encodeTransaction } from "@tributary/inbox/solana/message";
import { Account } from "litesvm/dist/internal.js";
import { SOLANA_ACCOUNTS } from "./fixtures.ts";
import { createTokenAccount, findTokenAccount, mintTokens, sendLamports, setFrozen } from "./instructions.ts";
import { signMessage } from "./keypairs.ts";
import type { Keypair } from "./keypairs.ts";
import { runTransaction } from "./ledger/execute.ts";
import type { Ledger } from "./ledger/ledger.ts";
import { readMint, readTokenAccount } from "./ledger/tokenAccounts.ts";
import { parseTransaction } from "./ledger/transaction.ts";
import type { Landing, TransactionPool } from "./ledger/transactionPool.ts";

// What tests do to the chain, past JSON-RPC.

export type StoredAccount = {
  /** The program that owns it. */
  readonly owner: string;
  readonly data: Uint8Array;
  /** Default the rent of its bytes. */
  readonly lamports?: bigint;
  readonly isExecutable?: boolean;
};

const LOOKUP_TABLE_PROGRAM = "AddressLookupTab1e1111111111111111111111111";
const TABLE_HEADER = 56;
const NEVER = 2n ** 64n - 1n;

export class LocalSolanaControl {
  readonly #ledger: Ledger;
  readonly #pool: TransactionPool;
  readonly #setTime: (unixSeconds: number) => void;
  /** Tells equal transactions apart. */
  #sent = 0n;

  constructor(ledger: Ledger, { pool, setTime }: { pool: TransactionPool; setTime: (unixSeconds: number) => void }) {
    this.#ledger = ledger;
    this.#pool = pool;
    this.#setTime = setTime;
  }

  /** The slot that transactions land in. */
  get slot(): number {
    return this.#ledger.open.slot;
  }

  nextSlot(count = 1): void {
    for (let left = count; left > 0; left -= 1) this.#ledger.nextSlot();
  }

  /** Ends the open block and leaves the next `count` slots without a block. */
  skip(count: number): void {
    this.#ledger.nextSlot(count);
  }

  /** Makes everything up to now confirmed, respectively finalized. */
  confirm(): void {
    this.nextSlot(this.#ledger.options.confirmedAfter);
  }
  finalize(): void {
    this.nextSlot(this.#ledger.options.finalizedAfter);
  }

  /** Makes every blockhash up to now too old. */
  expireBlockhashes(): void {
    this.nextSlot(152);
  }

  /**
   * Replaces the newest `depth` blocks, the open one included. Their slots count as skipped. Of their transactions,
   * those in `keep` land again in the new open block, unless their blockhash belongs to a dropped one; the others are
   * gone until someone sends them again. Returns the signatures of those that are gone. Throws a RangeError for
   * finalized blocks.
   */
  fork(depth: number, { keep = [] }: { keep?: "all" | readonly string[] } = {}): string[] {
    const dropped = this.#ledger.fork(depth);
    for (const { parsed, signature } of dropped) {
      if (keep === "all" || keep.includes(signature)) runTransaction(this.#ledger, parsed);
    }
    const signatures = dropped.map(({ signature }) => signature);
    return signatures.filter((signature) => this.#ledger.transaction(signature) === undefined);
  }

  /** What happens to the transactions that clients send from now on. Those of this control always land at once. */
  setLanding(landing: Landing): void {
    this.#pool.landing = landing;
  }

  /** Lets held transactions land, all or those named. */
  release(signatures?: readonly string[]): void {
    this.#pool.release(signatures);
  }

  /** The time of the open slot; it runs on from there. */
  setTime(unixSeconds: number): void {
    this.#setTime(unixSeconds);
    this.#ledger.setTime(unixSeconds);
  }

  /** Runs a transaction in the open block. The first signer pays. Returns its signature; throws when it fails. */
  send(signers: readonly Keypair[], instructions: readonly SolanaInstruction[]): string {
    const [payer] = signers;
    if (payer === undefined) throw new Error("a transaction needs a payer");
    const { blockhash } = this.#ledger.latestHash(this.#ledger.open);
    const message = encodeMessage({
      feePayer: payer.address,
      blockhash,
      instructions: [...instructions, this.#nonce()],
    });
    const signatures = signers.map((each): [string, Uint8Array] => [each.address, signMessage(each, message.bytes)]);
    const parsed = parseTransaction(encodeTransaction(message, new Map(signatures)));
    const landed = runTransaction(this.#ledger, parsed);
    if (landed?.error === null) return landed.signature;
    throw new Error(`the transaction failed: ${JSON.stringify(landed?.error)} ${landed?.logs.join("\n")}`);
  }

  /**
   * Makes nodes say that a transaction is of a later version than they are asked for, as after an upgrade of the
   * network.
   */
  claimVersion(signature: string, version: number): void {
    const landed = this.#ledger.transaction(signature);
    if (landed === undefined) throw new Error(`${signature} has not landed`);
    landed.version = version;
  }

  /** Makes nodes say that they have not kept what a transaction did, or that they have. */
  loseResult(signature: string, isLost = true): void {
    const landed = this.#ledger.transaction(signature);
    if (landed === undefined) throw new Error(`${signature} has not landed`);
    landed.isResultLost = isLost;
  }

  /** Makes nodes say that they have not kept the times of blocks, or that they have. */
  loseTimes(areLost = true): void {
    this.#ledger.areTimesLost = areLost;
  }

  airdrop(to: string, lamports: bigint): string {
    const { faucet } = SOLANA_ACCOUNTS;
    return this.send([faucet], [sendLamports(faucet.address, to, lamports)]);
  }

  /** Mints to the token account that wallets look for, and creates it first if needed. */
  mintTokens({ mint, owner, units }: { mint: string; owner: string; units: bigint }): {
    signature: string;
    account: string;
  } {
    const { issuer } = SOLANA_ACCOUNTS;
    const program = this.#tokenProgramOf(mint);
    const holder = { owner, mint, program };
    const account = findTokenAccount(holder);
    const minting = mintTokens({ mint, to: account, units, authority: issuer.address, program });
    return { signature: this.send([issuer], [createTokenAccount(issuer.address, holder), minting]), account };
  }

  /** Freezes or thaws a token account, as the issuer of its mint. */
  setFrozen(account: string, isFrozen: boolean): string {
    const token = readTokenAccount(this.#ledger.account(account));
    if (token === undefined) throw new Error(`${account} is no token account`);
    const { issuer } = SOLANA_ACCOUNTS;
    const { mint, programId: program } = token;
    return this.send([issuer], [setFrozen({ account, mint, authority: issuer.address, program, isFrozen })]);
  }

  /** The newest state of an account; undefined when it does not exist. */
  account(address: string): Required<StoredAccount> | undefined {
    const found = this.#ledger.account(address);
    if (found === null) return undefined;
    const [owner, isExecutable] = [encodeKey(found.owner()), found.executable()];
    return { owner, data: found.data(), lamports: found.lamports(), isExecutable };
  }

  /** Balance of a token account; 0 when it does not exist. */
  units(account: string): bigint {
    return readTokenAccount(this.#ledger.account(account))?.units ?? 0n;
  }

  /** Writes an account past every program; undefined removes it. */
  setAccount(address: string, stored: StoredAccount | undefined): void {
    const { owner, data, lamports, isExecutable } = stored ?? {
      owner: systemProgram,
      data: new Uint8Array(0),
      lamports: 0n,
    };
    const rent = this.#ledger.svm.minimumBalanceForRentExemption(BigInt(data.length));
    const bytes = new Uint8Array(data);
    const account = new Account(lamports ?? rent, bytes, decodeKey("owner", owner), isExecutable ?? false, 0n);
    this.#ledger.setAccount(address, account);
  }

  /** A lookup table of these accounts, usable from the next slot on. */
  createLookupTable(addresses: readonly string[]): string {
    const header = Buffer.alloc(TABLE_HEADER);
    header.writeUInt32LE(1);
    header.writeBigUInt64LE(NEVER, 4);
    header.writeBigUInt64LE(BigInt(this.slot - 1), 12);
    const data = Buffer.concat([header, ...addresses.map((each) => decodeKey("account", each))]);
    const address = encodeKey(new Uint8Array(createHash("sha256").update(data).digest()));
    this.setAccount(address, { owner: LOOKUP_TABLE_PROGRAM, data });
    return address;
  }

  #tokenProgramOf(mint: string): string {
    const found = readMint(this.#ledger.account(mint));
    if (found === undefined) throw new Error(`${mint} is no mint`);
    return found.programId;
  }

  /** A price of 0 for priority, in one of many ways to write it. */
  #nonce(): SolanaInstruction {
    this.#sent += 1n;
    const data = Buffer.alloc(5, 2);
    data.writeUInt32LE(1_400_000 - Number(this.#sent % 1_000_000n), 1);
    return { program: "ComputeBudget111111111111111111111111111111", accounts: [], data: new Uint8Array(data) };
  }
}
