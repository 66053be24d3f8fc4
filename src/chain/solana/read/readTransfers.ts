import { ProviderFailed, type BlockRange, type Transfer, type TransferScope } from "../../reader.ts";
import type { SolanaRpc } from "../rpc/solanaRpc.ts";
import { assertBeginnings, assertUnbroken } from "./accountHistory.ts";
import { listSignatures, type SignatureList } from "./listSignatures.ts";
import { locateTransactions, PLACES_MAX, type LocatedTransaction } from "./locateTransactions.ts";
import type { Mints } from "./mints.ts";
import { readHoldings, type ExpectedAccount } from "./readHoldings.ts";
import { isSkippedHash, type SlotBlocks } from "./slotBlocks.ts";
import { findTokenAccount } from "../tokenAccount.ts";
import { findTransfers, type AccountTransfer } from "./transactionTransfers.ts";

/** More transactions of a range are not fetched at once; those of one block always are. */
const TRANSACTIONS_MAX = 100;
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
  const range = "blockHash" in scope ? { fromBlock: scope.blockNumber, toBlock: scope.blockNumber } : scope;
  const located = parties
    ? await readAccounts(source, range, await expectAccounts(source, tokens, parties))
    : await readProgram(source, range);
  if ("blockHash" in scope && located.some(({ blockHash }) => blockHash !== scope.blockHash))
    throw new ProviderFailed("unknown_block", `${source.rpc.name} has another block ${scope.blockNumber} now`);
  const [wanted, asked] = [new Set(tokens), parties && new Set(parties)];
  return located
    .flatMap((transaction) => toTransfers(source, transaction))
    .filter(({ token, from, to }) => wanted.has(token) && (!asked || asked.has(from) || asked.has(to)));
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

async function readProgram({ rpc, program }: TransferSource, range: BlockRange): Promise<LocatedTransaction[]> {
  return locateListed(rpc, range, [await listSignatures(rpc, program, range)]);
}

async function readAccounts(
  { rpc }: TransferSource,
  range: BlockRange,
  expected: readonly ExpectedAccount[],
): Promise<LocatedTransaction[]> {
  const [lists, holdings] = await Promise.all([listAccounts(rpc, range, expected), readHoldings(rpc, expected)]);
  const located = await locateListed(rpc, range, lists);
  const histories = expected.map(({ account }, index) => ({
    account,
    transactions: located.filter(({ keys }) => keys.includes(account)),
    list: lists[index],
    units: holdings.units[index] ?? 0n,
    slot: holdings.lowestSlot,
  }));
  await assertBeginnings(rpc, histories);
  for (const history of histories) assertUnbroken(rpc.name, history);
  return located;
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

async function locateListed(
  rpc: SolanaRpc,
  range: BlockRange,
  lists: readonly SignatureList[],
): Promise<LocatedTransaction[]> {
  const slotOf = new Map(
    lists.flatMap(({ listed }) => listed.map(({ signature, slot }) => [signature, slot] as const)),
  );
  const succeeded = new Set(
    lists.flatMap(({ listed }) => listed.filter((each) => each.succeeded).map(({ signature }) => signature)),
  );
  const isCut = lists.some((list) => list.isCut);
  if (range.fromBlock < range.toBlock && (isCut || succeeded.size > TRANSACTIONS_MAX))
    throw tooMany(rpc, range, slotOf);
  const located = await locateTransactions(rpc, [...succeeded]);
  const known = new Map(located.map((transaction) => [transaction.signature, transaction]));
  for (const signature of succeeded) {
    const transaction = known.get(signature);
    if (transaction?.slot !== slotOf.get(signature) || !transaction?.succeeded)
      throw new ProviderFailed("contradictory", `${rpc.name} listed ${signature}, and does not have it so any more`);
  }
  return located;
}

/** The range up to the slot of the first transaction that is too much. */
function tooMany(rpc: SolanaRpc, range: BlockRange, slotOf: ReadonlyMap<string, bigint>): ProviderFailed {
  const slots = [...slotOf.values()].toSorted((one, other) => (one < other ? -1 : 1));
  const blocks = (slots[TRANSACTIONS_MAX] ?? range.toBlock) - range.fromBlock;
  return new ProviderFailed("range_too_large", `${rpc.name} lists more than ${TRANSACTIONS_MAX} transactions`, {
    suggestion: { blocks: blocks > 0n ? blocks : 1n, isLimit: false },
  });
}
