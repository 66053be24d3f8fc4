import { createPrivateKey, generateKeyPairSync, sign } from "node:crypto";
import type { KeyObject } from "node:crypto";
import {
  Account,
  type CompiledInstruction,
  FailedTransactionMetadata,
  LiteSvm,
  Rent,
  TransactionErrorInstructionError,
} from "litesvm/dist/internal.js";
import { decodeKey, encodeKey, encodeSignature, systemProgram } from "@tributary/inbox/solana/keys";
import { encodeMessage, encodeTransaction } from "@tributary/inbox/solana/message";
import type { SolanaInstruction } from "@tributary/inbox/solana/instructions";

// The runtime with the real token programs, the associated token program and the loader, in this process.

export type Keypair = { readonly address: string; readonly key: KeyObject };

export type Outcome = {
  readonly ok: boolean;
  /** The number that the failed program returned, if it returned one. */
  readonly code: number | undefined;
  /** The runtime's words about a failure. */
  readonly reason: string;
  readonly computeUnits: number;
  /** Length of the transaction. */
  readonly bytes: number;
};

export type StoredAccount = { readonly owner: string; readonly lamports: bigint; readonly data: Buffer };

const UNIT_OFFSET = 64;
const SUPPLY_OFFSET = 36;
/** Prices of a byte on public clusters: the first one, the present one, and the last one that is announced. */
export const PRICES_OF_A_BYTE = [6_960n, 5_080n, 696n] as const;
const LAMPORTS_PER_BYTE = 5_080n;
const LAMPORTS_OF_WALLET = 1_000_000_000_000n;

export function createKeypair(): Keypair {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const raw = publicKey.export({ format: "der", type: "spki" }).subarray(-32);
  return { address: encodeKey(new Uint8Array(raw)), key: privateKey };
}

/** The same key on every run. */
export function keypairFromSeed(seed: Uint8Array): Keypair {
  const prefix = Buffer.from("302e020100300506032b657004220420", "hex");
  const key = createPrivateKey({ key: Buffer.concat([prefix, seed]), format: "der", type: "pkcs8" });
  const exported = key.export({ format: "jwk" }).x ?? "";
  return { address: encodeKey(new Uint8Array(Buffer.from(exported, "base64url"))), key };
}

/** The errors without fields that the tests meet, by the runtime's numbers. */
const FIELDLESS_ERRORS: Readonly<Record<number, string>> = {
  2: "AccountNotFound",
  4: "InsufficientFundsForFee",
  7: "BlockhashNotFound",
};

/** A transaction's error in the JSON of a node. */
function toWireError(error: unknown): unknown {
  if (typeof error === "number") return FIELDLESS_ERRORS[error] ?? String(error);
  if (!(error instanceof TransactionErrorInstructionError)) return String(error);
  const inner = error.err();
  const custom = typeof inner === "object" && "code" in inner ? { Custom: inner.code } : String(inner);
  return { InstructionError: [error.index, custom] };
}

/** A transaction that succeeded, with the calls that its instructions made. */
export type Landed = { readonly transaction: Uint8Array; readonly inner: readonly CompiledInstruction[] };

/** The accounts of a transaction with a message of the legacy version. */
export function accountKeysOf(transaction: Uint8Array): string[] {
  const message = transaction.subarray(1 + 64 * (transaction[0] ?? 0));
  const keyAt = (index: number) => encodeKey(message.slice(4 + index * 32, 36 + index * 32));
  return Array.from({ length: message[3] ?? 0 }, (_, index) => keyAt(index));
}

export class World {
  readonly svm = new LiteSvm();
  /** Successful transactions, oldest first; empty until a test wants them. */
  landed: Landed[] | undefined;
  readonly #blockhash: string;

  constructor(lamportsPerByte: bigint = LAMPORTS_PER_BYTE) {
    this.svm.setTransactionHistory(0n);
    this.setRent(lamportsPerByte);
    this.#blockhash = this.svm.latestBlockhash();
  }

  addProgram(address: string, elf: Uint8Array): void {
    this.svm.addProgram(decodeKey("program", address), elf);
  }

  createWallet(lamports = LAMPORTS_OF_WALLET): Keypair {
    const wallet = createKeypair();
    if (lamports > 0n) this.svm.airdrop(decodeKey("wallet", wallet.address), lamports);
    return wallet;
  }

  /** Runs a transaction. The first signer pays; every signature is real. Throws when a required one is missing. */
  send(signers: readonly Keypair[], instructions: readonly SolanaInstruction[]): Outcome {
    const [payer] = signers;
    if (payer === undefined) throw new Error("a transaction needs a payer");
    const message = encodeMessage({ feePayer: payer.address, blockhash: this.#blockhash, instructions });
    const signatures = new Map(
      signers.map(({ address, key }) => [address, new Uint8Array(sign(null, message.bytes, key))]),
    );
    return this.#run(encodeTransaction(message, signatures));
  }

  /** As if the runtime accepted signatures of keys that nobody has. */
  sendForged(payer: Keypair, instructions: readonly SolanaInstruction[]): Outcome {
    const message = encodeMessage({ feePayer: payer.address, blockhash: this.#blockhash, instructions });
    this.svm.setSigverify(false);
    try {
      return this.#run(encodeTransaction(message, new Map(message.signers.map((key) => [key, new Uint8Array(64)]))));
    } finally {
      this.svm.setSigverify(true);
    }
  }

  /** Runs a transaction as a node takes it. Returns its first signature; throws when it fails. */
  sendRaw(transaction: Uint8Array): string {
    const outcome = this.#run(transaction);
    if (!outcome.ok) throw new Error(`Transaction simulation failed: ${outcome.reason}`);
    return encodeSignature(transaction.slice(1, 65));
  }

  /** Runs a transaction without checking its signatures or changing anything, and returns what a node answers. */
  simulateRaw(transaction: Uint8Array): { err: unknown; logs: string[] } {
    this.svm.setSigverify(false);
    try {
      const result = this.svm.simulateLegacyTransaction(transaction);
      const err = result instanceof FailedTransactionMetadata ? toWireError(result.err()) : null;
      return { err, logs: result.meta().logs() };
    } finally {
      this.svm.setSigverify(true);
    }
  }

  /** Like send; throws when the transaction fails. */
  must(signers: readonly Keypair[], instructions: readonly SolanaInstruction[]): Outcome {
    const outcome = this.send(signers, instructions);
    if (!outcome.ok) throw new Error(`the transaction failed: ${outcome.reason}`);
    return outcome;
  }

  account(address: string): StoredAccount | undefined {
    const found = this.svm.getAccount(decodeKey("account", address));
    if (found === null || (found.lamports() === 0n && found.data().length === 0)) return undefined;
    return { owner: encodeKey(found.owner()), lamports: found.lamports(), data: Buffer.from(found.data()) };
  }

  /** Like account, without the owner, whose text takes long to write. */
  read(address: string): Omit<StoredAccount, "owner"> | undefined {
    const found = this.svm.getAccount(decodeKey("account", address));
    return found === null ? undefined : { lamports: found.lamports(), data: Buffer.from(found.data()) };
  }

  exists(address: string): boolean {
    return this.account(address) !== undefined;
  }

  /** Balance of a token account; 0 when there is none. */
  units(address: string): bigint {
    const data = this.read(address)?.data;
    return data === undefined || data.length < UNIT_OFFSET + 8 ? 0n : data.readBigUInt64LE(UNIT_OFFSET);
  }

  supply(mint: string): bigint {
    return this.read(mint)?.data.readBigUInt64LE(SUPPLY_OFFSET) ?? 0n;
  }

  lamports(address: string): bigint {
    return this.svm.getBalance(decodeKey("account", address)) ?? 0n;
  }

  /** From now on. Accounts that exist keep their lamports. */
  setRent(lamportsPerByte: bigint): void {
    this.svm.setRent(new Rent(lamportsPerByte, 1, 50));
  }

  rent(bytes: number): bigint {
    return this.svm.minimumBalanceForRentExemption(BigInt(bytes));
  }

  /** Writes an account past every program. */
  put(
    address: string,
    { owner, data, lamports = this.rent(data.length) }: Omit<StoredAccount, "lamports"> & { lamports?: bigint },
  ): void {
    const account = new Account(lamports, new Uint8Array(data), decodeKey("owner", owner), false, 0n);
    this.svm.setAccount(decodeKey("account", address), account);
  }

  remove(address: string): void {
    this.put(address, { owner: systemProgram, data: Buffer.alloc(0), lamports: 0n });
  }

  /** Changes the data of an account past every program. */
  edit(address: string, change: (data: Buffer) => void): void {
    const key = decodeKey("account", address);
    const found = this.svm.getAccount(key);
    if (found === null) throw new Error(`no account ${address}`);
    const data = Buffer.from(found.data());
    change(data);
    this.svm.setAccount(key, new Account(found.lamports(), new Uint8Array(data), found.owner(), false, 0n));
  }

  setUnits(address: string, units: bigint): void {
    this.edit(address, (data) => data.writeBigUInt64LE(units, UNIT_OFFSET));
  }

  setTime(seconds: number): void {
    const clock = this.svm.getClock();
    clock.unixTimestamp = BigInt(seconds);
    this.svm.setClock(clock);
  }

  #run(transaction: Uint8Array): Outcome {
    const result = this.svm.sendLegacyTransaction(transaction);
    const bytes = transaction.length;
    if (!(result instanceof FailedTransactionMetadata)) {
      const inner = this.landed === undefined ? [] : result.innerInstructions().flat();
      this.landed?.push({ transaction, inner: inner.map((each) => each.instruction()) });
      return { ok: true, code: undefined, reason: "", computeUnits: Number(result.computeUnitsConsumed()), bytes };
    }
    const meta = result.meta();
    const reason = meta.logs().findLast((line) => /failed|rror/i.test(line)) ?? result.toString();
    const code = /custom program error: 0x(?<code>[0-9a-f]+)/.exec(reason)?.groups?.["code"];
    const computeUnits = Number(meta.computeUnitsConsumed());
    return { ok: false, code: code === undefined ? undefined : Number.parseInt(code, 16), reason, computeUnits, bytes };
  }
}
