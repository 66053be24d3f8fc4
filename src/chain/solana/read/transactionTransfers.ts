import { isOnCurve } from "@tributary/inbox/solana/curve";
import { decodeKey } from "@tributary/inbox/solana/keys";
import { BRIDGE_MINTER, parseBridgeMints, type BridgeMint } from "../bridge/bridgeMints.ts";
import type { SolanaTransaction, TokenBalance } from "../rpc/parseTransaction.ts";
import { findInboxLegs, type Leg } from "./inboxLegs.ts";
import { TOKEN_PROGRAMS } from "./mints.ts";
import { findTokenAccount } from "../tokenAccount.ts";

// The transfers of one transaction, between owners. Every unit that moves is in exactly one of them: what the inbox
// program moves is a transfer for each instruction, what a bridge gave one for each message, and what an account gained
// beyond those is one more. So the list depends on nothing but the transaction.

export type AccountTransfer = {
  token: string;
  from: string;
  to: string;
  units: bigint;
  /** Stays the same in whichever block the transaction lands. */
  identity: string;
  /** Set where a bridge gave the units. */
  mint?: BridgeMint;
};

/** Ends the identity of what came in after the last leg. */
const AFTER_LEGS = "after";

/** A token account that belongs to its owner and mint by derivation, with its change. */
type Holder = { owner: string; mint: string; gained: bigint };

/**
 * What came in before the first leg of its account, in the order of the accounts, then the legs in the order of their
 * execution, then what came in after the last leg (D48). A sweep takes what was there at its moment, so what came in
 * later must not be counted as taken.
 */
export function findTransfers(transaction: SolanaTransaction, { program }: { program: string }): AccountTransfer[] {
  if (!transaction.succeeded) return [];
  const before = byAccount(transaction.before);
  const after = byAccount(transaction.after);
  const legs = findInboxLegs(transaction.instructions, program);
  const isDerived = (account: string, holder: { owner: string; mint: string; tokenProgram: string }) =>
    TOKEN_PROGRAMS.includes(holder.tokenProgram) && findTokenAccount(holder) === account;
  const holders = new Map<string, Holder>();
  for (const account of transaction.keys) {
    const balances = [after.get(account), before.get(account)];
    const own = balances.find((balance) => balance !== undefined && isDerived(account, balance));
    if (own) holders.set(account, { owner: own.owner, mint: own.mint, gained: change(own, balances) });
  }
  const outgoing: AccountTransfer[] = [];
  const countOf = new Map<string, number>();
  for (const leg of legs) {
    const source = holders.get(leg.source) ?? addHolder(holders, leg, isDerived);
    if (!source) continue;
    const number = countOf.get(leg.source) ?? 0;
    countOf.set(leg.source, number + 1);
    source.gained += leg.units;
    const destination = leg.destination === undefined ? undefined : holders.get(leg.destination);
    if (destination) destination.gained -= leg.units;
    const to = destination?.owner ?? recipientOf(leg, after, before) ?? source.mint;
    outgoing.push({
      token: source.mint,
      from: source.owner,
      to,
      units: leg.units,
      identity: `${leg.source}/${number}`,
    });
  }
  const lastLegOf = new Map(legs.map(({ source, order }) => [source, order]));
  const moved = new Set(lastLegOf.keys());
  const mintsOf = Map.groupBy(parseBridgeMints(transaction), ({ account }) => account);
  const incoming = [...holders].map(([account, holder]) => {
    const { owner, mint, gained } = holder;
    const held = after.get(account);
    const left = moved.has(account) && held?.owner === owner && held.mint === mint ? held.units : 0n;
    const late = left < gained ? left : gained;
    const from = gained > 0n ? (findSender({ mint, to: owner }, { before, after, moved }) ?? mint) : mint;
    const shared = { token: mint, from, to: owner };
    return separateMints(mintsOf.get(account) ?? [], {
      first: { ...shared, units: gained - late, identity: account },
      late: { ...shared, units: late, identity: `${account}/${AFTER_LEGS}` },
      lastLeg: lastLegOf.get(account),
    });
  });
  const arrived = ({ units }: AccountTransfer) => units > 0n;
  const [first, late] = [incoming.flatMap((each) => each.first), incoming.flatMap((each) => each.late)];
  return [...first.filter(arrived), ...outgoing, ...late.filter(arrived)];
}

type Incoming = { first: AccountTransfer; late: AccountTransfer; lastLeg: number | undefined };

/**
 * Takes what a bridge gave out of what came in: what is left is a deposit, whatever else the transaction does. A mint
 * that came alone has the identity of the account.
 */
function separateMints(mints: readonly BridgeMint[], { first, late, lastLeg }: Incoming) {
  const isLate = ({ order }: BridgeMint) => lastLeg !== undefined && order > lastLeg;
  const separate = (transfer: AccountTransfer, given: readonly BridgeMint[]): AccountTransfer[] => {
    const units = given.reduce((sum, mint) => sum + mint.units, 0n);
    // A wallet may have paid in the same transaction.
    if (units > transfer.units) return [transfer];
    const isAlone = given.length === 1 && units === transfer.units;
    const separated = given.map((mint) => ({
      ...transfer,
      from: BRIDGE_MINTER,
      units: mint.units,
      identity: isAlone ? transfer.identity : `${transfer.identity}/${mint.nonce}`,
      mint,
    }));
    return [{ ...transfer, units: transfer.units - units }, ...separated];
  };
  return {
    first: separate(
      first,
      mints.filter((mint) => !isLate(mint)),
    ),
    late: separate(late, mints.filter(isLate)),
  };
}

function byAccount(balances: readonly TokenBalance[]): Map<string, TokenBalance> {
  return new Map(balances.map((balance) => [balance.account, balance]));
}

/** After less before; another owner's or mint's balance at the same address counts as none. */
function change(own: TokenBalance, [after, before]: readonly (TokenBalance | undefined)[]): bigint {
  const unitsOf = (balance: TokenBalance | undefined) =>
    balance?.owner === own.owner && balance.mint === own.mint ? balance.units : 0n;
  return unitsOf(after) - unitsOf(before);
}

/** The holder of a source that was created and closed in the transaction, and so has no balance before or after it. */
function addHolder(
  holders: Map<string, Holder>,
  { source, authority: owner, mint, tokenProgram }: Leg,
  isDerived: (account: string, holder: { owner: string; mint: string; tokenProgram: string }) => boolean,
): Holder | undefined {
  if (mint === undefined || !isDerived(source, { owner, mint, tokenProgram })) return undefined;
  const holder = { owner, mint, gained: 0n };
  holders.set(source, holder);
  return holder;
}

/**
 * Who receives a leg in an account that no owner derives: a wallet is paid in any account of its own. An address
 * without a private key may be an inbox, which has only its derived account, so that the account itself is named.
 */
function recipientOf(
  { destination }: Leg,
  after: ReadonlyMap<string, TokenBalance>,
  before: ReadonlyMap<string, TokenBalance>,
): string | undefined {
  if (destination === undefined) return undefined;
  const owner = (after.get(destination) ?? before.get(destination))?.owner;
  return owner !== undefined && isOnCurve(decodeKey("owner", owner)) ? owner : destination;
}

/** The owner whose accounts of the mint decreased most, without what the inbox program and the bridge moved. */
function findSender(
  { mint, to }: { mint: string; to: string },
  {
    before,
    after,
    moved,
  }: {
    before: ReadonlyMap<string, TokenBalance>;
    after: ReadonlyMap<string, TokenBalance>;
    moved: ReadonlySet<string>;
  },
): string | undefined {
  const decreases = new Map<string, bigint>();
  const add = ({ account, owner, mint: token, units }: TokenBalance, sign: bigint) => {
    if (token !== mint || owner === to || owner === BRIDGE_MINTER || moved.has(account)) return;
    decreases.set(owner, (decreases.get(owner) ?? 0n) + sign * units);
  };
  for (const balance of before.values()) add(balance, 1n);
  for (const balance of after.values()) add(balance, -1n);
  let most: [owner: string, units: bigint] | undefined;
  for (const [owner, units] of decreases) if (units > (most?.[1] ?? 0n)) most = [owner, units];
  return most?.[0];
}
