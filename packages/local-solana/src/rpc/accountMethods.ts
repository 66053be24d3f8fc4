import type { Account } from "litesvm/dist/internal.js";
import type { Block, Ledger } from "../ledger/ledger.ts";
import {
  formatTokenAmount,
  isTokenAccountOf,
  readMint,
  readTokenAccount,
  TOKEN_PROGRAMS,
} from "../ledger/tokenAccounts.ts";
import { encodeAccount } from "./encodeAccount.ts";
import type { Methods } from "./methods.ts";
import {
  parseBase58,
  readBlock,
  readInteger,
  readKey,
  readList,
  readOptions,
  readText,
  withContext,
} from "./params.ts";
import type { CallOptions } from "./params.ts";
import { RpcError } from "./rpcError.ts";

const ACCOUNTS_MAX = 100;
const FILTERS_MAX = 4;

export function accountMethods(ledger: Ledger): Methods {
  const encode = (account: Account | null, options: CallOptions, block: Block) =>
    encodeAccount(account, options, (key) => ledger.accountAt(key, block));
  const list = (accounts: readonly [string, Account][], options: CallOptions, block: Block) =>
    accounts.map(([pubkey, account]) => ({ pubkey, account: encode(account, options, block) }));
  return {
    getBalance: ([key, given]) => {
      const block = readBlock(ledger, readOptions(given));
      return withContext(block, ledger.accountAt(readKey(key), block)?.lamports() ?? 0);
    },
    getAccountInfo: ([key, given]) => {
      const options = readOptions(given);
      const block = readBlock(ledger, options);
      return withContext(block, encode(ledger.accountAt(readKey(key), block), options, block));
    },
    getMultipleAccounts: ([keys, given]) => {
      const options = { encoding: "base64", ...readOptions(given) };
      const block = readBlock(ledger, options);
      const accounts = readList(keys, ACCOUNTS_MAX).map((key) => ledger.accountAt(readKey(key), block));
      return withContext(
        block,
        accounts.map((account) => encode(account, options, block)),
      );
    },
    getProgramAccounts: ([program, given]) => {
      const options = readOptions(given);
      const block = readBlock(ledger, options);
      const matches = readFilters(options);
      const found = ledger.programAccounts(readKey(program), block, matches);
      const accounts = list(found, options, block);
      return options["withContext"] === true ? withContext(block, accounts) : accounts;
    },
    ...tokenMethods(ledger, list),
  };
}

type ListAccounts = (accounts: readonly [string, Account][], options: CallOptions, block: Block) => object[];

function tokenMethods(ledger: Ledger, list: ListAccounts): Methods {
  return {
    getTokenAccountBalance: ([key, given]) => {
      const block = readBlock(ledger, readOptions(given));
      const account = ledger.accountAt(readKey(key), block);
      if (account === null) throw new RpcError("invalidParams", "Invalid param: could not find account");
      const token = readTokenAccount(account);
      if (token === undefined) throw new RpcError("invalidParams", "Invalid param: not a Token account");
      const decimals = readMint(ledger.accountAt(token.mint, block))?.decimals ?? 0;
      return withContext(block, formatTokenAmount(token.units, decimals));
    },
    getTokenSupply: ([key, given]) => {
      const block = readBlock(ledger, readOptions(given));
      const account = ledger.accountAt(readKey(key), block);
      if (account === null) throw new RpcError("invalidParams", "Invalid param: could not find account");
      const mint = readMint(account);
      if (mint === undefined) throw new RpcError("invalidParams", "Invalid param: not a Token mint");
      return withContext(block, formatTokenAmount(mint.supply, mint.decimals));
    },
    getTokenAccountsByOwner: ([ownerKey, filter, given]) => {
      const options = readOptions(given);
      const block = readBlock(ledger, options);
      const owner = readKey(ownerKey);
      const { mint, programId } = readOptions(filter);
      const programs = programId === undefined ? TOKEN_PROGRAMS : [readKey(programId)];
      const wantedMint = mint === undefined ? undefined : readKey(mint);
      const isWanted = (account: Account) => {
        if (!isTokenAccountOf(account, owner)) return false;
        const token = readTokenAccount(account);
        return token !== undefined && (wantedMint === undefined || token.mint === wantedMint);
      };
      const found = programs.flatMap((program) => ledger.programAccounts(program, block, isWanted));
      return withContext(block, list(found, options, block));
    },
  };
}

type Filter = { dataSize?: unknown; memcmp?: { offset?: unknown; bytes?: unknown; encoding?: unknown } };

function readFilters({ filters = [] }: CallOptions): (account: Account) => boolean {
  const tests = readList(filters, FILTERS_MAX).map((each) => {
    const { dataSize, memcmp } = each as Filter;
    if (dataSize !== undefined) return (data: Buffer) => data.length === readInteger(dataSize);
    if (memcmp === undefined) throw new RpcError("invalidParams", "Invalid params: unknown filter");
    const text = readText(memcmp.bytes);
    const bytes = memcmp.encoding === "base64" ? Buffer.from(text, "base64") : parseBase58(text);
    const offset = readInteger(memcmp.offset);
    if (bytes === undefined) throw new RpcError("invalidParams", "Invalid param: invalid base58");
    return (data: Buffer) => data.subarray(offset, offset + bytes.length).equals(bytes);
  });
  return (account) => tests.every((isMatch) => isMatch(Buffer.from(account.data())));
}
