import { isOnCurve } from "@tributary/inbox/solana/curve";
import { decodeKey } from "@tributary/inbox/solana/keys";
import { ProviderFailed, type BlockRange, type Skipping, type Transfer, type TransferScope } from "../../reader.ts";
import type { SolanaTransaction } from "../rpc/parseTransaction.ts";
import type { SolanaRpc } from "../rpc/solanaRpc.ts";
import { assertBeginnings, assertUnbroken } from "./accountHistory.ts";
import { fetchListed, type OwnedList } from "./listedTransactions.ts";
import { listSignatures, type SignatureList } from "./listSignatures.ts";
import { locateTransactions, PLACES_MAX, type LocatedTransaction } from "./locateTransactions.ts";
import type { Mints } from "./mints.ts";
import { readHoldings, type ExpectedAccount } from "./readHoldings.ts";
import { isSkippedHash, type SlotBlocks } from "./slotBlocks.ts";
import { findTokenAccount } from "../tokenAccount.ts";
import { findTransfers, type AccountTransfer } from "./transactionTransfers.ts";

/** Lists of signatures at a time. */
const LISTS_MAX = 8;

export type TransferSource = {
  rpc: SolanaRpc;
  program: string;
  mints: Mints;
  blocks: SlotBlocks;
};

type TransferRequest = { tokens: readonly string[]; parties: readonly string[] | undefined };

/** See ChainReader.transfers: without parties those of transactions that call the inbox program. */
export async function readTransfers(
  source: TransferSource,
  scope: TransferScope,
  { tokens, parties }: TransferRequest,
): Promise<Transfer[]> {
  if (tokens.length === 0 || parties?.length === 0) return [];
  if ("blockHash" in scope) {
    await assertBlock(source, scope);
    // Its slot has no block.
    if (isSkippedHash(scope.blockHash)) return [];
  }
  const { skipped } = scope;
  const blocks = "blockHash" in scope ? { fromBlock: scope.blockNumber, toBlock: scope.blockNumber } : scope;
  const range = { ...blocks, ...(skipped && { skipped }) };
  const [wanted, asked] = [new Set(tokens), parties && new Set(parties)];
  const matches = ({ token, from, to }: Pick<Transfer, "token" | "from" | "to">) =>
    wanted.has(token) && (!asked || asked.has(from) || asked.has(to));
  const located = parties
    ? await readAccounts(source, range, { expected: await expectAccounts(source, tokens, parties), matches })
    : await readProgram(source, range, matches);
  if ("blockHash" in scope && located.some(({ blockHash }) => blockHash !== scope.blockHash))
    throw new ProviderFailed("unknown_block", `${source.rpc.name} has another block ${scope.blockNumber} now`);
  return located.flatMap((transaction) => toTransfers(source, transaction)).filter(matches);
}

/** Every transfer of a transaction with its place: incoming ones first. */
export function toTransfers(source: TransferSource, transaction: LocatedTransaction): Transfer[] {
  const { signature: chainTx, slot: blockNumber, blockHash, index } = transaction;
  const found = findTransfers(transaction, source);
  if (BigInt(found.length) > PLACES_MAX) throw new ProviderFailed("bad_answer", `${chainTx} has too many transfers`);
  return found.map(({ token, from, to, units, identity }: AccountTransfer, number) => ({
    token,
    from,
    to,
    amountText: units.toString(),
    chainTx,
    place: index * PLACES_MAX + BigInt(number),
    blockNumber,
    blockHash,
    identity,
  }));
}

/** The accounts of owners, in the order of `owners` within each token. */
export async function expectAccounts(
  { mints }: Pick<TransferSource, "mints">,
  tokens: readonly string[],
  owners: readonly string[],
): Promise<ExpectedAccount[]> {
  const found = await Promise.all(tokens.map((mint) => mints.get(mint)));
  return found.flatMap(({ tokenProgram }, index) => {
    const mint = tokens[index] ?? "";
    return owners.map((owner) => ({
      account: findTokenAccount({ owner, mint, tokenProgram }),
      owner,
      mint,
      tokenProgram,
    }));
  });
}

async function assertBlock(
  { rpc, blocks }: TransferSource,
  { blockHash, blockNumber }: { blockHash: string; blockNumber: bigint },
): Promise<void> {
  const block = await blocks.bySlot(blockNumber);
  if (block?.hash !== blockHash)
    throw new ProviderFailed("unknown_block", `${rpc.name} does not have block ${blockNumber} ${blockHash}`);
}

type SkippingRange = BlockRange & Skipping;
type IsMatch = (transfer: AccountTransfer) => boolean;

async function readProgram(
  { rpc, program }: TransferSource,
  range: SkippingRange,
  matches: IsMatch,
): Promise<LocatedTransaction[]> {
  const lists = [{ owner: undefined, list: await listSignatures(rpc, program, range) }];
  const { transactions } = await fetchListed(rpc, { ...range, program, lists });
  // Anybody can name the program. Its blocks are read only for transfers that an inbox may be a part of.
  const mayConcernInbox = ({ from, to }: AccountTransfer) => isNoWallet(from) || isNoWallet(to);
  const relevant = transactions.filter((each) =>
    findTransfers(each, { program }).some((transfer) => matches(transfer) && mayConcernInbox(transfer)),
  );
  return locateTransactions(rpc, relevant);
}

/** Inboxes have no private key, so that wallets are none. */
function isNoWallet(address: string): boolean {
  return !isOnCurve(decodeKey("address", address));
}

async function readAccounts(
  { rpc, program }: TransferSource,
  range: SkippingRange,
  { expected, matches }: { expected: readonly ExpectedAccount[]; matches: IsMatch },
): Promise<LocatedTransaction[]> {
  const [lists, holdings] = await Promise.all([listAccounts(rpc, range, expected), readHoldings(rpc, expected)]);
  const owned = lists.map((list, index): OwnedList => ({ owner: expected[index]?.owner, list }));
  const { transactions, unreadableSlots } = await fetchListed(rpc, { ...range, program, lists: owned });
  const located = await locateTransactions(rpc, selectChanging(transactions, { program, expected, matches }));
  const ordered = orderByPlace(transactions, located);
  const histories = expected.map(({ account }, index) => ({
    account,
    transactions: ordered.filter(({ keys }) => keys.includes(account)),
    gaps: (lists[index]?.listed ?? []).flatMap(({ signature }) => unreadableSlots.get(signature) ?? []),
    list: lists[index],
    units: holdings.units[index] ?? 0n,
    slot: holdings.lowestSlot,
  }));
  await assertBeginnings(rpc, histories);
  for (const history of histories) assertUnbroken(rpc.name, history);
  return located;
}

type Selection = { program: string; expected: readonly ExpectedAccount[]; matches: IsMatch };

/**
 * The transactions whose order in their block matters: those of slots in which an account changes. Anybody can name an
 * account, and reading a block for that would cost us more than them.
 */
function selectChanging(
  transactions: readonly SolanaTransaction[],
  { program, expected, matches }: Selection,
): SolanaTransaction[] {
  const accounts = new Set(expected.map(({ account }) => account));
  const unitsIn = (balances: SolanaTransaction["before"]) =>
    new Map(balances.filter(({ account }) => accounts.has(account)).map(({ account, units }) => [account, units]));
  const isChanging = (transaction: SolanaTransaction) => {
    const [before, after] = [unitsIn(transaction.before), unitsIn(transaction.after)];
    const isChanged = [...accounts].some((account) => (before.get(account) ?? 0n) !== (after.get(account) ?? 0n));
    return isChanged || findTransfers(transaction, { program }).some(matches);
  };
  const slots = new Set(transactions.filter(isChanging).map(({ slot }) => slot));
  return transactions.filter(({ slot }) => slots.has(slot));
}

/**
 * In the order of the chain. Those whose place is not known change nothing, so that their order in a slot does not
 * matter.
 */
function orderByPlace(
  transactions: readonly SolanaTransaction[],
  located: readonly LocatedTransaction[],
): SolanaTransaction[] {
  const indexOf = new Map(located.map(({ signature, index }) => [signature, index]));
  const indexIn = ({ signature }: SolanaTransaction) => indexOf.get(signature) ?? 0n;
  return transactions.toSorted((one, other) =>
    one.slot === other.slot ? Number(indexIn(one) - indexIn(other)) : one.slot < other.slot ? -1 : 1,
  );
}

async function listAccounts(
  rpc: SolanaRpc,
  range: BlockRange,
  expected: readonly ExpectedAccount[],
): Promise<SignatureList[]> {
  const lists: SignatureList[] = [];
  for (let start = 0; start < expected.length; start += LISTS_MAX) {
    const group = expected.slice(start, start + LISTS_MAX);
    lists.push(...(await Promise.all(group.map(({ account }) => listSignatures(rpc, account, range)))));
  }
  return lists;
}
