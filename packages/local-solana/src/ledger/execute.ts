import { createPublicKey, verify } from "node:crypto";
import { decodeKey, encodeKey, systemProgram } from "@tributary/inbox/solana/keys";
import { Account, FailedTransactionMetadata } from "litesvm/dist/internal.js";
import type { SimulatedTransactionInfo, TransactionMetadata } from "litesvm/dist/internal.js";
import { decodeBase58 } from "@tributary/inbox/solana/base58";
import type { Balances, LandedTransaction, LoadedKeys, Outcome } from "./executedTransaction.ts";
import type { Block, Commitment, Ledger } from "./ledger.ts";
import { readMint, readTokenAccount, TOKEN_PROGRAMS } from "./tokenAccounts.ts";
import { isWritableKey } from "./transaction.ts";
import type { ParsedMessage, ParsedTransaction } from "./transaction.ts";
import { toTransactionError } from "./transactionErrors.ts";

// Runs transactions in the open block, or without a trace on an earlier one.

export type Simulation = Outcome & {
  /** Accounts that the transaction would have changed. */
  readonly accounts: ReadonlyMap<string, Account>;
};

const TABLE_HEADER = 56;
const KEY_BYTES = 32;
const LOOKUP_TABLE_PROGRAM = "AddressLookupTab1e1111111111111111111111111";
const COMPUTE_BUDGET = "ComputeBudget111111111111111111111111111111";
const FEE_PER_SIGNATURE = 5_000n;
const MICRO = 1_000_000n;
/** What an instruction may consume unless the transaction sets a limit. */
const UNITS = 200_000n;
const UNITS_OF_BUILTIN = 3_000n;
const BUILTINS: ReadonlySet<string> = new Set([
  COMPUTE_BUDGET,
  systemProgram,
  "BPFLoaderUpgradeab1e11111111111111111111111",
]);
const UNITS_MAX = 1_400_000n;
const SLOT_HASHES = 512;

/** Whether every signature is of its signer. */
export function hasValidSignatures(parsed: ParsedTransaction): boolean {
  const { message } = parsed;
  return parsed.signatures.every((signature, index) => {
    const signer = parsed.staticKeys[index];
    const bytes = decodeBase58(signature);
    if (signer === undefined || bytes === undefined) return false;
    const x = Buffer.from(decodeKey("signer", signer)).toString("base64url");
    const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
    return verify(null, message, key, bytes);
  });
}

/** Why the block would refuse the transaction without charging for it; undefined when it would run it. */
export function findRefusal(ledger: Ledger, { signatures, recentBlockhash }: ParsedTransaction, at: Block) {
  const known = ledger.transaction(signatures[0] ?? "");
  if (known !== undefined && known.slot <= at.slot) return "AlreadyProcessed";
  return ledger.isHashValid(recentBlockhash, at) ? undefined : "BlockhashNotFound";
}

/**
 * Runs a transaction in the open block. Undefined when it does not land: its blockhash is too old, its signature wrong,
 * or nobody pays.
 */
export function runTransaction(ledger: Ledger, parsed: ParsedTransaction): LandedTransaction | undefined {
  const payer = parsed.staticKeys[0] ?? "";
  if (findRefusal(ledger, parsed, ledger.open) !== undefined) return undefined;
  provideSlotHashes(ledger, parsed);
  const loaded = loadKeys(parsed, (key) => ledger.account(key));
  const keys = [...parsed.staticKeys, ...loaded.writable, ...loaded.readonly];
  const writableKeys = [...parsed.staticKeys.filter((_key, index) => isWritableKey(parsed, index)), ...loaded.writable];
  ledger.remember(writableKeys);
  const before = readBalances(ledger, keys);
  const isOtherWire = parsed.engineWire !== parsed.wire;
  if (isOtherWire && !hasValidSignatures(parsed)) return undefined;
  ledger.svm.setSigverify(!isOtherWire);
  const result = ledger.svm.sendVersionedTransaction(parsed.engineWire);
  const outcome = readOutcome(result);
  // What is charged for has landed, failed or not.
  if (outcome.error !== null && balanceOf(ledger, payer) === before.lamports[0]) return undefined;
  const signature = parsed.signatures[0] ?? "";
  chargePriority(ledger, parsed);
  const after = readBalances(ledger, keys);
  // Lamports move between the accounts, and only the fee leaves them.
  const sum = (lamportsOf: readonly bigint[]) => lamportsOf.reduce((total, each) => total + each, 0n);
  const fee = sum(before.lamports) - sum(after.lamports);
  return ledger.land({ ...outcome, signature, parsed, keys, writableKeys, loaded, fee, before, after });
}

/** The engine runs a message of version 1 as one of version 0, which does not name this fee. */
function chargePriority(ledger: Ledger, { config, staticKeys }: ParsedTransaction): void {
  const payer = staticKeys[0] ?? "";
  const [account, fee] = [ledger.account(payer), BigInt(config?.priorityFee ?? 0)];
  if (account === null || fee === 0n) return;
  const left = account.lamports() > fee ? account.lamports() - fee : 0n;
  ledger.write(payer, new Account(left, account.data(), account.owner(), account.executable(), account.rentEpoch()));
}

export type SimulationOptions = {
  readonly at: Commitment;
  readonly isSigverified: boolean;
};

/** Runs a transaction on the state of a level, without a trace. */
export function simulateTransaction(ledger: Ledger, parsed: ParsedTransaction, options: SimulationOptions): Simulation {
  const at = ledger.head(options.at);
  const loaded = loadKeys(parsed, (key) => ledger.accountAt(key, at));
  const tables = parsed.lookups.map(({ accountKey }) => accountKey);
  const keys = [...parsed.staticKeys, ...loaded.writable, ...loaded.readonly, ...tables];
  provideSlotHashes(ledger, parsed);
  return withStateOf({ ledger, at, keys }, () => {
    ledger.svm.setSigverify(options.isSigverified && parsed.engineWire === parsed.wire);
    const result = ledger.svm.simulateVersionedTransaction(parsed.engineWire);
    const changed = result instanceof FailedTransactionMetadata ? [] : result.postAccounts();
    const accounts = new Map(changed.map((each) => [encodeKey(each.address), each.account()]));
    return { ...readOutcome(result), accounts };
  });
}

/** Puts accounts back to an earlier block while `run` runs. */
function withStateOf<Result>(
  { ledger, at, keys }: { ledger: Ledger; at: Block; keys: readonly string[] },
  run: () => Result,
): Result {
  const newest = keys.flatMap((key): [string, Account | null][] => {
    return ledger.hasChangedSince(key, at) && !ledger.isProgram(key) ? [[key, ledger.account(key)]] : [];
  });
  for (const [key] of newest) ledger.write(key, ledger.accountAt(key, at));
  try {
    return run();
  } finally {
    for (const [key, account] of newest) ledger.write(key, account);
  }
}

/** Fee of the signatures plus what the transaction bids for priority. */
export function feeOf({ header, instructions, staticKeys, config }: ParsedMessage): bigint {
  if (config) return FEE_PER_SIGNATURE * BigInt(header.numRequiredSignatures) + BigInt(config.priorityFee ?? 0);
  const programs = instructions.map(({ programIdIndex }) => staticKeys[programIdIndex] ?? "");
  let price = 0n;
  let limit = programs.reduce((units, program) => units + (BUILTINS.has(program) ? UNITS_OF_BUILTIN : UNITS), 0n);
  instructions.forEach(({ data }, index) => {
    if (programs[index] !== COMPUTE_BUDGET) return;
    const bytes = Buffer.from(data);
    if (bytes[0] === 2 && bytes.length >= 5) limit = BigInt(bytes.readUInt32LE(1));
    if (bytes[0] === 3 && bytes.length >= 9) price = bytes.readBigUInt64LE(1);
  });
  const units = limit < UNITS_MAX ? limit : UNITS_MAX;
  return FEE_PER_SIGNATURE * BigInt(header.numRequiredSignatures) + (price * units + MICRO - 1n) / MICRO;
}

function loadKeys(parsed: ParsedTransaction, read: (key: string) => Account | null): LoadedKeys {
  const load = (pick: (lookup: ParsedTransaction["lookups"][number]) => readonly number[]) =>
    parsed.lookups.flatMap((lookup) => {
      const data = read(lookup.accountKey)?.data() ?? new Uint8Array(0);
      return pick(lookup).flatMap((index) => {
        const key = data.slice(TABLE_HEADER + KEY_BYTES * index, TABLE_HEADER + KEY_BYTES * (index + 1));
        return key.length === KEY_BYTES ? [encodeKey(key)] : [];
      });
    });
  return { writable: load((lookup) => lookup.writableIndexes), readonly: load((lookup) => lookup.readonlyIndexes) };
}

/** Creating a lookup table reads the slots of the last blocks. They are written only then, because that takes time. */
function provideSlotHashes(ledger: Ledger, { staticKeys }: ParsedTransaction): void {
  if (!staticKeys.includes(LOOKUP_TABLE_PROGRAM)) return;
  const { slot } = ledger.open;
  const slots = ledger.slots({ from: slot - SLOT_HASHES, to: slot - 1, limit: SLOT_HASHES });
  const hashes = slots.map((each) => ({ slot: BigInt(each), hash: ledger.block(each)?.hash ?? ledger.genesisHash }));
  ledger.svm.setSlotHashes(hashes.toReversed());
}

function balanceOf(ledger: Ledger, key: string): bigint {
  return ledger.svm.getBalance(decodeKey("account", key)) ?? 0n;
}

function readBalances(ledger: Ledger, keys: readonly string[]): Balances {
  const lamports = keys.map((key) => balanceOf(ledger, key));
  // Nodes list token balances only where a token program may have changed them.
  if (!keys.some((key) => TOKEN_PROGRAMS.includes(key))) return { lamports, tokens: [] };
  const tokens = keys.flatMap((key, accountIndex) => {
    if (ledger.isProgram(key)) return [];
    const token = readTokenAccount(ledger.account(key));
    if (token === undefined) return [];
    const { mint, owner, programId, units } = token;
    const decimals = readMint(ledger.account(mint))?.decimals;
    return decimals === undefined ? [] : [{ accountIndex, mint, owner, programId, units, decimals }];
  });
  return { lamports, tokens };
}

function readOutcome(result: TransactionMetadata | FailedTransactionMetadata | SimulatedTransactionInfo): Outcome {
  const isFailed = result instanceof FailedTransactionMetadata;
  const meta = "meta" in result ? result.meta() : result;
  const returned = meta.returnData();
  const inner = meta.innerInstructions().map((list, index) => ({
    index,
    instructions: list.map((each) => {
      const instruction = each.instruction();
      const [programIdIndex, stackHeight] = [instruction.programIdIndex(), each.stackHeight()];
      return { programIdIndex, accounts: [...instruction.accounts()], data: instruction.data(), stackHeight };
    }),
  }));
  return {
    error: isFailed ? toTransactionError(result.err()) : null,
    logs: meta.logs(),
    computeUnits: meta.computeUnitsConsumed(),
    returnData:
      returned.data().length === 0 ? null : { programId: encodeKey(returned.programId()), data: returned.data() },
    inner: inner.filter(({ instructions }) => instructions.length > 0),
  };
}
