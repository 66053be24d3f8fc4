import { encodeKey } from "@tributary/inbox/solana/keys";
import type { IssuerPower } from "../../config/config.ts";

// Mints and token accounts of the two token programs, as far as settling depends on them.

const MINT_BYTES = 82;
const KEY_BYTES = 32;
const ACCOUNT_BYTES = 165;
/** Where an account with extensions has its type, and where they begin. */
const TYPE = 165;
const EXTENSIONS = 166;
const [TYPE_MINT, TYPE_ACCOUNT] = [1, 2];
const MINT_AUTHORITY = 0;
const FREEZE_AUTHORITY = 46;
const PERMANENT_DELEGATE = 12;
const MINT_DECIMALS = 44;
const MINT_INITIALIZED = 45;
const ACCOUNT_STATE = 108;
const STATES = ["uninitialized", "initialized", "frozen"] as const;

/** By number, so that an operator reads which extension is in the way. */
const EXTENSION_NAMES: Readonly<Record<number, string>> = {
  1: "transferFee",
  3: "mintCloseAuthority",
  4: "confidentialTransfer",
  6: "defaultAccountState",
  9: "nonTransferable",
  10: "interestBearing",
  12: "permanentDelegate",
  14: "transferHook",
  16: "confidentialTransferFee",
  18: "metadataPointer",
  19: "metadata",
  20: "groupPointer",
  21: "group",
  22: "groupMemberPointer",
  23: "groupMember",
  24: "confidentialMintBurn",
  25: "scaledUiAmount",
  26: "pausable",
};
/** They describe a mint, and change no transfer. */
const DESCRIBING: ReadonlySet<string> = new Set([
  "metadataPointer",
  "metadata",
  "groupPointer",
  "group",
  "groupMemberPointer",
  "groupMember",
]);
/**
 * Extensions of a token account with which the inbox program pays a fee to it: withheld fee, immutable owner, guard of
 * calls, not transferable, hook, pausable. One that may require memos is not among them.
 */
const RECEIVING: ReadonlySet<number> = new Set([2, 7, 11, 13, 15, 27]);
export type Mint = { readonly decimals: number; readonly extensions: readonly string[] };

/** Undefined for data that is no initialized mint. */
export function readMint(data: Buffer): Mint | undefined {
  const isMint = data.length === MINT_BYTES || (data.length > ACCOUNT_BYTES && data[TYPE] === TYPE_MINT);
  if (!isMint || data[MINT_INITIALIZED] !== 1) return undefined;
  return { decimals: data.readUInt8(MINT_DECIMALS), extensions: listExtensions(data).map(nameOf) };
}

/** Who can mint, freeze, or move everybody's tokens, in one text that two readings can be compared by. */
export function readAuthorities(data: Buffer): string {
  const [mint, freeze] = [MINT_AUTHORITY, FREEZE_AUTHORITY].map((at) =>
    data.length < MINT_BYTES || data.readUInt32LE(at) === 0 ? "nobody" : keyAt(data, at + 4),
  );
  const delegate = findExtension(data, PERMANENT_DELEGATE);
  const moves = delegate === undefined ? "" : `, ${keyAt(delegate, 0)} moves`;
  return `${mint} mints, ${freeze} freezes${moves}`;
}

export type TokenAccount = {
  readonly mint: string;
  readonly owner: string;
  readonly state: (typeof STATES)[number];
  /** An extension keeps the inbox program from paying a fee to it. */
  readonly forfeitsFees: boolean;
};

/** Undefined for data that is no token account. */
export function readTokenAccount(data: Buffer): TokenAccount | undefined {
  const isAccount = data.length === ACCOUNT_BYTES || (data.length > ACCOUNT_BYTES && data[TYPE] === TYPE_ACCOUNT);
  const state = isAccount ? STATES[data.readUInt8(ACCOUNT_STATE)] : undefined;
  if (state === undefined) return undefined;
  const forfeitsFees = !listExtensions(data).every((type) => RECEIVING.has(type));
  return { mint: keyAt(data, 0), owner: keyAt(data, 32), state, forfeitsFees };
}

/**
 * Extensions of a mint whose transfers may differ from what payers and merchants expect. `named`: those that the
 * operator accepts.
 */
export function refusedExtensions({ extensions }: Mint, named: readonly IssuerPower[]): string[] {
  const accepted: ReadonlySet<string> = new Set<string>(named);
  return extensions.filter((name) => !DESCRIBING.has(name) && !accepted.has(name));
}

function nameOf(type: number): string {
  return EXTENSION_NAMES[type] ?? `extension ${type}`;
}

/** Types of the extensions. One that is cut off counts too. */
function listExtensions(data: Buffer): number[] {
  return readExtensions(data).map(({ type }) => type);
}

/** The content of an extension, when it is long enough for a key. */
function findExtension(data: Buffer, wanted: number): Buffer | undefined {
  const content = readExtensions(data).find(({ type }) => type === wanted)?.content;
  return content !== undefined && content.length >= KEY_BYTES ? content : undefined;
}

function readExtensions(data: Buffer): { type: number; content: Buffer }[] {
  const found: { type: number; content: Buffer }[] = [];
  let offset = EXTENSIONS;
  while (offset + 4 <= data.length) {
    const type = data.readUInt16LE(offset);
    if (type === 0) break;
    const end = offset + 4 + data.readUInt16LE(offset + 2);
    found.push({ type, content: data.subarray(offset + 4, end) });
    offset = end;
  }
  return found;
}

function keyAt(data: Buffer, offset: number): string {
  return encodeKey(new Uint8Array(data.subarray(offset, offset + 32)));
}
