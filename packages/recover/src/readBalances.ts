import type { Hex } from "@tributary/inbox/terms";
import { decodeString, decodeUint, encodeAddress, parseQuantity, toFunctionSelector } from "./abi.ts";
import type { RpcRequester } from "./rpc/rpcRequester.ts";
import { NATIVE_TOKEN } from "./planRecovery.ts";
import type { BatchEntry } from "./rpc/batchProgram.ts";
import { isContractRefusal, type ContractReader } from "./rpc/askContracts.ts";

export type BalanceQuery = { readonly owner: Hex; readonly token: Hex };
export type TokenMetadata = { readonly symbol: string; readonly decimals: number };

const BALANCE_OF_SELECTOR = toFunctionSelector("balanceOf(address)");
const SYMBOL_SELECTOR = toFunctionSelector("symbol()");
const DECIMALS_SELECTOR = toFunctionSelector("decimals()");
/** A symbol is a `string`: its offset, its length and its first letters. */
const SYMBOL_WORDS = 3;
const DECIMALS_MAX = 36n;
/** Tokens whose balance needs more gas than a program gives are asked alone, so many at most. */
const ALONE_MAX = 100;

export type Balances = {
  /** In the order of the queries; zero for an address that is not a token. */
  readonly units: readonly bigint[];
  /** Balances that stayed unread. */
  readonly skipped: number;
};

/** Reads many balances with few requests. */
export async function readBalances(
  { request, contracts }: { request: RpcRequester; contracts: ContractReader },
  queries: readonly BalanceQuery[],
  onProgress?: (done: number, total: number) => void,
): Promise<Balances> {
  const entries = queries.map(toBalanceEntry);
  const answers = await contracts.ask(entries, 1, (done) => onProgress?.(done, queries.length));
  const units: bigint[] = [];
  let alone = 0;
  let skipped = 0;
  for (const [index, answer] of answers.entries()) {
    const query = queries[index];
    if (answer !== undefined || query === undefined) units.push(decodeUint(answer) ?? 0n);
    else if (alone < ALONE_MAX) {
      alone += 1;
      units.push(await readBalance(request, query.token, query.owner));
    } else {
      skipped += 1;
      units.push(0n);
    }
  }
  return { units, skipped };
}

function toBalanceEntry({ owner, token }: BalanceQuery): BatchEntry {
  return { target: token, data: `${BALANCE_OF_SELECTOR}${encodeAddress(owner)}` as Hex };
}

/** Returns zero for an address that is not a token: without a readable balance nothing can be recovered. */
export async function readBalance(request: RpcRequester, token: Hex, owner: Hex): Promise<bigint> {
  if (token === NATIVE_TOKEN) return parseQuantity(await request("eth_getBalance", [owner, "latest"]), "a balance");
  const { target: to, data } = toBalanceEntry({ owner, token });
  const response = await request("eth_call", [{ to, data }, "latest"]).catch(ignoreRevert);
  return decodeUint(response) ?? 0n;
}

/** The symbols and decimal places of tokens. */
export async function readMetadata(
  contracts: ContractReader,
  tokens: readonly Hex[],
): Promise<ReadonlyMap<Hex, TokenMetadata>> {
  const contractTokens = tokens.filter((token) => token !== NATIVE_TOKEN);
  const ask = (data: string, words: number) =>
    contracts.ask(
      contractTokens.map((target) => ({ target, data: data as Hex })),
      words,
    );
  const [symbols, decimals] = [await ask(SYMBOL_SELECTOR, SYMBOL_WORDS), await ask(DECIMALS_SELECTOR, 1)];
  const entries = contractTokens.map((token, index): [Hex, TokenMetadata] => {
    const places = decodeUint(decimals[index]) ?? 0n;
    const isSane = places <= DECIMALS_MAX;
    return [token, { symbol: decodeString(symbols[index]) ?? "?", decimals: isSane ? Number(places) : 0 }];
  });
  return new Map([[NATIVE_TOKEN, { symbol: "native coin", decimals: 18 }], ...entries]);
}

/** A contract that refuses lacks the function. */
function ignoreRevert(error: unknown): undefined {
  if (!isContractRefusal(error)) throw error;
}
