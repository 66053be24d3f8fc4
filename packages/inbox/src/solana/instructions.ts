import { concatBytes } from "@noble/hashes/utils";
import type { SolanaInbox } from "./address.ts";
import { bytes32 } from "./bytes.ts";
import type { CctpAccounts } from "./cctp.ts";
import { deriveTokenAccount } from "./derive.ts";
import { associatedTokenProgram, encodeKey, systemProgram } from "./keys.ts";
import { encodeSettings } from "./terms.ts";

/** One account of an instruction, with the privileges that the instruction needs. */
export type SolanaAccountMeta = { readonly address: string; readonly isSigner: boolean; readonly isWritable: boolean };

export type SolanaInstruction = {
  readonly program: string;
  readonly accounts: readonly SolanaAccountMeta[];
  readonly data: Uint8Array;
};

/** What each instruction of the inbox program is called in its data. */
export const instructionTags = { settle: 0, bridge: 1, rescue: 2, rescueLamports: 3, reclaim: 4, unnest: 5 } as const;

/** Instructions of the associated token program and of the token programs. */
const tokenTags = { createIdempotent: 1, transferChecked: 12 } as const;

export const readonlyMeta = (address: string): SolanaAccountMeta => ({ address, isSigner: false, isWritable: false });
export const writableMeta = (address: string): SolanaAccountMeta => ({ address, isSigner: false, isWritable: true });
export const signerMeta = (address: string): SolanaAccountMeta => ({ address, isSigner: true, isWritable: false });
export const writableSignerMeta = (address: string): SolanaAccountMeta => ({
  address,
  isSigner: true,
  isWritable: true,
});

type CommonSigners = {
  /** The rent recipient signs, and receives the rent of what is closed. */
  readonly rentRecipient?: boolean;
  readonly recovery?: boolean;
  readonly payout?: boolean;
};

export type SettleOptions = Pick<CommonSigners, "rentRecipient"> & {
  /** Another token account of the payout wallet. The wallet must sign. Default its associated one. */
  readonly payoutAccount?: string;
};

/**
 * Pays the whole balance of each inbox to its payout wallet, less the fee. All inboxes must have equal terms but for
 * the salt; at most eight fit into a transaction. Throws a RangeError for inboxes of other terms.
 */
export function buildSettle(inboxes: readonly SolanaInbox[], options: SettleOptions = {}): SolanaInstruction {
  const [first] = inboxes;
  if (first?.terms.kind !== "pay") throw new RangeError("settle takes inboxes of kind pay");
  if (inboxes.some(({ termsHash }) => termsHash !== first.termsHash))
    throw new RangeError("the inboxes of one settlement must have equal terms but for the salt");
  const { payout, mint } = first.terms;
  const associated = deriveTokenAccount(payout, mint, first.tokenProgram);
  const signers = { rentRecipient: options.rentRecipient === true, payout: options.payoutAccount !== undefined };
  return {
    program: first.program,
    accounts: [
      ...commonAccounts(first, signers, { agent: true }),
      writableMeta(options.payoutAccount ?? associated.address),
      ...inboxes.flatMap(({ tokenAccount, address }) => [writableMeta(tokenAccount), readonlyMeta(address)]),
    ],
    data: encodeData("settle", inboxes, associated.bump),
  };
}

export type BridgeOptions = Pick<CommonSigners, "rentRecipient"> & {
  readonly cctp: CctpAccounts;
  /** Pays the rent of the event account. */
  readonly payer: string;
  /** A new account, which holds the message. */
  readonly event: string;
  /** 0 is the fast route, 1 the standard one. */
  readonly route: 0 | 1;
  /** What a later version of Circle's messenger needs beside its 18 accounts. Nothing today. */
  readonly further?: FurtherAccounts;
};

export type FurtherAccounts = {
  /** At most eight. They never sign, and are read only where they could be the inbox's. */
  readonly accounts: readonly Omit<SolanaAccountMeta, "isSigner">[];
  /** How many of the messenger's 18 accounts stand behind them. Default 0: they are its last ones. */
  readonly before?: number;
};

const FURTHER_MAX = 8;
const MESSENGER_ACCOUNTS = 18;

/**
 * Burns the balance for the recipient on the other chain. Throws a RangeError for further accounts that the program
 * refuses.
 */
export function buildBridge(inbox: SolanaInbox, options: BridgeOptions): SolanaInstruction {
  const { cctp, route, further: { accounts: further, before = 0 } = { accounts: [] } } = options;
  if (further.length > FURTHER_MAX) throw new RangeError(`a bridge passes at most ${FURTHER_MAX} further accounts on`);
  if (!(before >= 0 && before <= (further.length > 0 ? MESSENGER_ACCOUNTS : 0)))
    throw new RangeError(`further accounts stand before 0 to ${MESSENGER_ACCOUNTS} of the messenger's`);
  const signers = { rentRecipient: options.rentRecipient === true };
  return {
    program: inbox.program,
    accounts: [
      ...commonAccounts(inbox, signers, { mint: true }),
      writableMeta(inbox.tokenAccount),
      readonlyMeta(inbox.address),
      writableSignerMeta(options.payer),
      readonlyMeta(cctp.senderAuthority),
      readonlyMeta(cctp.denylist),
      writableMeta(cctp.transmitterState),
      readonlyMeta(cctp.messengerState),
      readonlyMeta(cctp.remoteMessenger),
      readonlyMeta(cctp.minter),
      writableMeta(cctp.localToken),
      writableSignerMeta(options.event),
      readonlyMeta(cctp.transmitter),
      readonlyMeta(systemProgram),
      readonlyMeta(cctp.eventAuthority),
      ...further.map((account) => ({ ...account, isSigner: false })),
    ],
    data: encodeData("bridge", [inbox], route + 2 * before),
  };
}

export type RescueOptions = {
  /** Default the token account of the pinned mint. */
  readonly tokenAccount?: string;
  /** The mint of that account. Default the pinned one. */
  readonly mint?: string;
  /** The token account that receives the balance. */
  readonly destination: string;
  /** Closes the account and sends its lamports there. */
  readonly lamportsTo?: string;
};

/** Withdraws the balance of a token account of the inbox. The recovery key signs. */
export function buildRescue(inbox: SolanaInbox, options: RescueOptions): SolanaInstruction {
  const { tokenAccount = inbox.tokenAccount, mint = inbox.terms.mint, destination, lamportsTo } = options;
  return {
    program: inbox.program,
    accounts: [
      ...commonAccounts(inbox, { recovery: true }, { agent: true }),
      writableMeta(tokenAccount),
      readonlyMeta(inbox.address),
      writableMeta(destination),
      readonlyMeta(mint),
      ...(lamportsTo === undefined ? [] : [writableMeta(lamportsTo)]),
    ],
    data: encodeData("rescue", [inbox], 0),
  };
}

/** Withdraws lamports that were sent to the inbox itself. The recovery key signs. */
export function buildRescueLamports(inbox: SolanaInbox, to: string): SolanaInstruction {
  const accounts = [writableMeta(inbox.address), writableMeta(to), readonlyMeta(systemProgram)];
  return {
    program: inbox.program,
    accounts: [...commonAccounts(inbox, { recovery: true }, {}), ...accounts],
    data: encodeData("rescueLamports", [inbox], 0),
  };
}

/** Returns the lamports of the inbox to the rent recipient, which signs. */
export function buildReclaim(inbox: SolanaInbox): SolanaInstruction {
  const accounts = [writableMeta(inbox.address), readonlyMeta(systemProgram)];
  return {
    program: inbox.program,
    accounts: [...commonAccounts(inbox, { rentRecipient: true }, {}), ...accounts],
    data: encodeData("reclaim", [inbox], 0),
  };
}

/** Returns tokens of a mint that were sent to the associated token account of the inbox's token account. */
export function buildUnnest(inbox: SolanaInbox, mint: string): SolanaInstruction {
  const nested = deriveTokenAccount(inbox.tokenAccount, mint, inbox.tokenProgram).address;
  const to = deriveTokenAccount(inbox.address, mint, inbox.tokenProgram).address;
  return {
    program: inbox.program,
    accounts: [
      ...commonAccounts(inbox, {}, {}),
      readonlyMeta(inbox.tokenAccount),
      writableMeta(inbox.address),
      writableMeta(nested),
      readonlyMeta(mint),
      writableMeta(to),
      readonlyMeta(inbox.terms.mint),
      readonlyMeta(associatedTokenProgram),
    ],
    data: encodeData("unnest", [inbox], 0),
  };
}

export type PaymentOptions = {
  /** Its associated token account pays. It signs. */
  readonly payer: string;
  /** The mint's smallest units. */
  readonly units: bigint;
  /** Decimals of the mint. A wrong number makes the transfer fail. */
  readonly decimals: number;
};

/**
 * Pays into an inbox as wallets do: creates its token account if it is missing, at the payer's cost, then transfers.
 */
export function buildPayment(
  inbox: Pick<SolanaInbox, "address" | "tokenProgram"> & { readonly mint: string },
  { payer, units, decimals }: PaymentOptions,
): SolanaInstruction[] {
  const { address, mint, tokenProgram } = inbox;
  const tokenAccountOf = (owner: string) => writableMeta(deriveTokenAccount(owner, mint, tokenProgram).address);
  const to = tokenAccountOf(address);
  const create = [writableSignerMeta(payer), to, ...[address, mint, systemProgram, tokenProgram].map(readonlyMeta)];
  const transfer = [tokenAccountOf(payer), readonlyMeta(mint), to, signerMeta(payer)];
  const amount = new DataView(new ArrayBuffer(8));
  amount.setBigUint64(0, units, true);
  const data = Uint8Array.of(tokenTags.transferChecked, ...new Uint8Array(amount.buffer), decimals);
  return [
    { program: associatedTokenProgram, accounts: create, data: Uint8Array.of(tokenTags.createIdempotent) },
    { program: tokenProgram, accounts: transfer, data },
  ];
}

/** The six accounts with which every instruction begins. */
function commonAccounts(
  { terms, tokenProgram }: SolanaInbox,
  signers: CommonSigners,
  written: { readonly mint?: boolean; readonly agent?: boolean },
): SolanaAccountMeta[] {
  const payee = terms.kind === "pay" ? terms.payout : encodeKey(bytes32("mintRecipient", terms.mintRecipient));
  const agent = terms.kind === "pay" ? terms.feeAccount : terms.messenger;
  return [
    { address: terms.mint, isSigner: false, isWritable: written.mint === true },
    readonlyMeta(tokenProgram),
    { address: payee, isSigner: signers.payout === true, isWritable: false },
    { address: agent, isSigner: false, isWritable: written.agent === true && terms.kind === "pay" },
    signers.rentRecipient === true ? writableSignerMeta(terms.rentRecipient) : readonlyMeta(terms.rentRecipient),
    { address: terms.recovery, isSigner: signers.recovery === true, isWritable: false },
  ];
}

/** Tag, kind, option, the part of the terms that is no key, then bump and salt of each inbox. */
function encodeData(name: keyof typeof instructionTags, inboxes: readonly SolanaInbox[], option: number): Uint8Array {
  const [first] = inboxes;
  if (first === undefined) throw new RangeError("an instruction needs an inbox");
  const kind = first.terms.kind === "pay" ? 0 : 1;
  return concatBytes(
    Uint8Array.of(instructionTags[name], kind, option),
    encodeSettings(first.terms),
    ...inboxes.flatMap(({ bump, terms }) => [Uint8Array.of(bump), bytes32("salt", terms.salt)]),
  );
}
