import {
  ProviderFailed,
  type ChainReader,
  type FilteredTransfers,
  type Skipping,
  type TransactionProof,
  type Transfer,
  type TransferScope,
} from "./reader.ts";

// An answer can have the shape of the request and still contradict it: a log with the right hash and a wrong number, a
// log of another token, two logs in one place. A number that is too low would count a deposit too early. So each answer
// is compared with its request, for every kind of chain, and a contradiction makes another provider answer.

type TransferRequest = { scope: TransferScope; tokens: readonly string[]; parties?: readonly string[] | undefined };

/**
 * The same reader, whose answers are compared with their requests. They reject with ProviderFailed `contradictory`
 * where they contradict them. `skipped`: what every reading leaves out.
 */
export function checkedReader<Reader extends ChainReader>(reader: Reader, { skipped }: Skipping = {}): Reader {
  const { name } = reader;
  const skipping = skipped === undefined ? {} : { skipped };
  const checks: Partial<ChainReader> = {
    transfers: async (scope, tokens, parties) =>
      assertTransfersMatch(name, await reader.transfers({ ...scope, ...skipping }, tokens, parties), {
        scope,
        tokens,
        parties,
      }),
    proofs: async (chainTxs) => assertProofsMatch(name, await reader.proofs(chainTxs), chainTxs),
    balances: async (token, owners, at) => {
      const balances = await reader.balances(token, owners, at);
      if (balances.length !== owners.length) throw contradiction(name, "balances of other addresses");
      return balances;
    },
  };
  if (reader.holdings)
    checks.holdings = async (token, owners) => {
      const { blockNumber, units } = (await reader.holdings?.(token, owners)) ?? { blockNumber: 0n, units: [] };
      if (units.length !== owners.length) throw contradiction(name, "holdings of other addresses");
      return { blockNumber, units };
    };
  if (reader.filterTransfers)
    checks.filterTransfers = async (scope, tokens, filter): Promise<FilteredTransfers> => {
      const filtered = await reader.filterTransfers?.({ ...scope, ...skipping }, tokens, filter);
      assertTransfersMatch(name, filtered?.transfers ?? [], { scope, tokens });
      return filtered ?? { transfers: [], scannedCount: 0, lastBlockHash: undefined };
    };
  if (reader.blocksWithTransfers)
    checks.blocksWithTransfers = async (scope, tokens) => {
      const read = await reader.blocksWithTransfers?.({ ...scope, ...skipping }, tokens);
      return read && { ...read, transfers: assertTransfersMatch(name, read.transfers, { scope, tokens }) };
    };
  if (reader.recheckTransfers)
    checks.recheckTransfers = async (scope, tokens) =>
      assertTransfersMatch(name, (await reader.recheckTransfers?.({ ...scope, ...skipping }, tokens)) ?? [], {
        scope,
        tokens,
      });
  if (reader.blocksWithProofs)
    checks.blocksWithProofs = async (numbers, chainTxs) => {
      const { blocks = [], proofs = [] } = (await reader.blocksWithProofs?.(numbers, chainTxs)) ?? {};
      return { blocks, proofs: assertProofsMatch(name, proofs, chainTxs) };
    };
  return new Proxy(reader, {
    get(target, method) {
      const value: unknown = Reflect.get(checks, method) ?? Reflect.get(target, method, target);
      return typeof value === "function" ? (value as (...args: unknown[]) => unknown).bind(target) : value;
    },
  });
}

function assertTransfersMatch(name: string, transfers: Transfer[], request: TransferRequest): Transfer[] {
  const tokens = new Set(request.tokens);
  const parties = request.parties && new Set(request.parties);
  const hashOf = new Map<bigint, string>();
  const numberOf = new Map<string, bigint>();
  const logs = new Map<string, Transfer>();
  for (const transfer of transfers) {
    const { token, from, to, blockNumber, blockHash, place } = transfer;
    if (!tokens.has(token)) throw contradiction(name, `a transfer of another token, ${token}`);
    if (parties && !parties.has(from) && !parties.has(to))
      throw contradiction(name, `a transfer between other addresses than the requested ones in ${transfer.chainTx}`);
    if (!isInScope(transfer, request.scope))
      throw contradiction(name, `a transfer of block ${blockNumber} ${blockHash}, which was not requested`);
    if (
      (hashOf.get(blockNumber) ?? blockHash) !== blockHash ||
      (numberOf.get(blockHash) ?? blockNumber) !== blockNumber
    )
      throw contradiction(
        name,
        `transfers of block ${blockNumber} ${blockHash} and of another one with its number or hash`,
      );
    hashOf.set(blockNumber, blockHash);
    numberOf.set(blockHash, blockNumber);
    const key = `${blockNumber}/${place}`;
    const other = logs.get(key);
    if (other && !isSameTransfer(other, transfer))
      throw contradiction(name, `two transfers in place ${place} of block ${blockNumber}`);
    logs.set(key, transfer);
  }
  return transfers;
}

function isInScope({ blockNumber, blockHash }: Transfer, scope: TransferScope): boolean {
  if ("blockHash" in scope) return blockHash === scope.blockHash && blockNumber === scope.blockNumber;
  return blockNumber >= scope.fromBlock && blockNumber <= scope.toBlock;
}

function isSameTransfer(one: Transfer, other: Transfer): boolean {
  const isSameMove = one.token === other.token && one.from === other.from && one.to === other.to;
  return isSameMove && one.chainTx === other.chainTx && BigInt(one.amountText) === BigInt(other.amountText);
}

function assertProofsMatch(name: string, proofs: TransactionProof[], chainTxs: readonly string[]): TransactionProof[] {
  const requested = new Set(chainTxs);
  if (proofs.some(({ chainTx }) => !requested.has(chainTx)))
    throw contradiction(name, "a proof of a transaction that was not requested");
  return proofs;
}

function contradiction(name: string, what: string): ProviderFailed {
  return new ProviderFailed("contradictory", `${name} answered with ${what}`);
}
