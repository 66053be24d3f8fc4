import { ProviderFailed } from "../../reader.ts";
import { parseArray, parseObject } from "../../rpc/jsonValues.ts";
import { parseAddress, parseCount, parseSignature, parseSlot, parseUnits } from "./values.ts";

/** A token account in a transaction, before or after it. */
export type TokenBalance = { account: string; mint: string; owner: string; tokenProgram: string; units: bigint };

export type Instruction = {
  program: string;
  accounts: readonly string[];
  /** Base58: only few are decoded. */
  data: string;
  /** 1 at the top level. */
  depth: number;
};

/** What a transaction did, as far as tokens are concerned. */
export type SolanaTransaction = {
  signature: string;
  slot: bigint;
  succeeded: boolean;
  /** Every address of the transaction, those of its lookup tables included. */
  keys: readonly string[];
  /** In the order of their execution: each before those that it calls. */
  instructions: readonly Instruction[];
  before: readonly TokenBalance[];
  after: readonly TokenBalance[];
};

type Fields = Readonly<Record<string, unknown>>;

/** The runtime allows fewer; longer lists would only cost time. */
const KEYS_MAX = 256;
const INSTRUCTIONS_MAX = 1_000;
/** Digits of the base58 of 10 KiB, the most that a program passes to another one. */
const DATA_DIGITS_MAX = 14_000;

/**
 * The highest version that this release reads. Its accounts are those of the message; version 0 alone has lookup
 * tables.
 */
export const VERSION_MAX = 1;
const VERSIONS: readonly unknown[] = ["legacy", 0, 1];
/** Addresses that the text of an unreadable transaction names. The runtime allows fewer. */
const NAMES_MAX = 512;

/** A transaction that its node has, and that no reader of this release can parse. */
export class UnreadableTransaction {
  readonly signature: string;
  /** The same at every node that has the same transaction. */
  readonly reason: string;
  /** The addresses in its text; empty when the node did not give it. */
  readonly names: readonly string[];

  constructor(signature: string, { reason, names = [] }: { reason: string; names?: readonly string[] }) {
    this.signature = signature;
    this.reason = reason;
    this.names = names;
  }
}

/**
 * Parses the answer to getTransaction. Throws ProviderFailed `bad_answer` when a part is missing, because another node
 * may have it, and `contradictory` for another transaction than the requested one.
 */
export function parseTransaction(requested: string, answer: unknown): SolanaTransaction | UnreadableTransaction {
  const fields = parseObject(answer, "a transaction");
  const { version } = fields;
  // A version that nobody has written a parser for could hold its accounts elsewhere.
  if (!VERSIONS.includes(version))
    return new UnreadableTransaction(requested, {
      reason: `version ${String(version).slice(0, 20)}`,
      names: listNames(fields),
    });
  const transaction = parseObject(fields["transaction"], "a transaction's message");
  const signature = parseSignature(parseArray(transaction["signatures"], "signatures")[0]);
  if (signature !== requested)
    throw new ProviderFailed("contradictory", "the provider sent another transaction than the requested one");
  const slot = parseSlot(fields["slot"]);
  const message = parseObject(transaction["message"], "a transaction's message");
  // Another node may have kept what this one has not. If none has, its block goes on without it.
  if (fields["meta"] === null)
    return new UnreadableTransaction(requested, { reason: "no recorded result", names: listNames(fields) });
  const meta = parseResult(fields["meta"], message);
  try {
    return { signature, slot, ...parseContents(message, meta, version) };
  } catch (error) {
    if (!(error instanceof ProviderFailed)) throw error;
    return new UnreadableTransaction(requested, { reason: error.message, names: listNames(fields) });
  }
}

/** The result of a transaction, with every list that nodes leave out when they do not record it. */
function parseResult(value: unknown, message: Fields): Fields {
  const meta = parseObject(value, "the result of a transaction");
  if (meta["err"] === undefined) throw malformed("a transaction without its result");
  const lists = meta["err"] === null ? ["innerInstructions", "preTokenBalances", "postTokenBalances"] : [];
  for (const list of lists) parseArray(meta[list], `the list ${list} of a transaction`);
  const { addressTableLookups: tables } = message;
  if (Array.isArray(tables) && tables.length > 0)
    parseObject(meta["loadedAddresses"], "the addresses of lookup tables");
  return meta;
}

function parseContents(message: Fields, meta: Fields, version: unknown) {
  const keys = parseKeys(message, meta, version);
  const succeeded = meta["err"] === null;
  return {
    succeeded,
    keys,
    instructions: succeeded ? parseInstructions(message, meta, keys) : [],
    before: succeeded ? parseBalances(meta["preTokenBalances"], keys) : [],
    after: succeeded ? parseBalances(meta["postTokenBalances"], keys) : [],
  };
}

/** Everything in a text that has the form of an address. */
function listNames(answer: unknown): string[] {
  const names = new Set<string>();
  for (const [, name] of JSON.stringify(answer).matchAll(/"([1-9A-HJ-NP-Za-km-z]{32,44})"/g)) {
    if (names.size === NAMES_MAX) break;
    if (name !== undefined) names.add(name);
  }
  return [...names];
}

/** Those of the message, then the writable and the readonly ones of its lookup tables. */
function parseKeys(message: Fields, meta: Fields, version: unknown): string[] {
  const own = parseAddresses(message["accountKeys"]);
  const tables = version === 0 ? parseArray(message["addressTableLookups"] ?? [], "lookup tables") : [];
  if (tables.length === 0) return own;
  const loaded = parseObject(meta["loadedAddresses"], "the addresses of lookup tables");
  const lists = (["writable", "readonly"] as const).map((kind) => {
    const addresses = parseAddresses(loaded[kind]);
    const indexes = tables.flatMap((table) => parseArray(parseObject(table, "a table")[`${kind}Indexes`], "indexes"));
    if (indexes.length !== addresses.length) throw malformed("another number of addresses than its tables name");
    return addresses;
  });
  return [own, ...lists].flat();
}

function parseAddresses(value: unknown): string[] {
  const list = parseArray(value, "addresses");
  if (list.length > KEYS_MAX) throw malformed("too many addresses");
  return list.map((each) => parseAddress(each, "an address"));
}

function parseInstructions(message: Fields, meta: Fields, keys: readonly string[]): Instruction[] {
  // Null where the node does not record them: what a program moved would be missed.
  const innerLists = new Map<number, readonly unknown[]>();
  for (const each of parseArray(meta["innerInstructions"], "inner instructions")) {
    const { index, instructions } = parseObject(each, "inner instructions");
    const at = parseCount(index, "an index");
    if (innerLists.has(at)) throw malformed("two lists of inner instructions for one instruction");
    innerLists.set(at, parseArray(instructions, "inner instructions"));
  }
  const outer = parseArray(message["instructions"], "instructions");
  if (innerLists.keys().some((index) => index >= outer.length)) throw malformed("inner instructions of no instruction");
  const all = outer.flatMap((instruction, index) => [
    parseInstruction(instruction, keys, 1),
    ...(innerLists.get(index) ?? []).map((each) => parseInstruction(each, keys)),
  ]);
  if (all.length > INSTRUCTIONS_MAX) throw malformed("too many instructions");
  return all;
}

function parseInstruction(value: unknown, keys: readonly string[], depth?: number): Instruction {
  const { programIdIndex, accounts, data, stackHeight } = parseObject(value, "an instruction");
  const inner = depth === undefined ? parseCount(stackHeight, "the depth of an instruction") : depth;
  if (depth === undefined && inner < 2) throw malformed("an inner instruction at the top level");
  if (typeof data !== "string" || data.length > DATA_DIGITS_MAX)
    throw malformed("an instruction without readable data");
  return {
    program: keyAt(keys, programIdIndex),
    accounts: parseArray(accounts, "the accounts of an instruction").map((index) => keyAt(keys, index)),
    data,
    depth: inner,
  };
}

function parseBalances(value: unknown, keys: readonly string[]): TokenBalance[] {
  const balances = parseArray(value, "token balances").map((each): TokenBalance => {
    const { accountIndex, mint, owner, programId, uiTokenAmount } = parseObject(each, "a token balance");
    return {
      account: keyAt(keys, accountIndex),
      mint: parseAddress(mint, "a mint"),
      owner: parseAddress(owner, "the owner of a token account"),
      tokenProgram: parseAddress(programId, "a token program"),
      units: parseUnits(parseObject(uiTokenAmount, "an amount")["amount"]),
    };
  });
  if (new Set(balances.map(({ account }) => account)).size !== balances.length)
    throw malformed("two balances of one token account");
  return balances;
}

function keyAt(keys: readonly string[], index: unknown): string {
  const key = keys[parseCount(index, "the index of an account")];
  if (key === undefined) throw malformed("an account that the transaction does not name");
  return key;
}

function malformed(what: string): ProviderFailed {
  return new ProviderFailed("bad_answer", `the provider sent ${what}`);
}
