import { deriveTokenAccount } from "@tributary/inbox/solana/derive";
import { encodeKey, token2022Program, tokenProgram } from "@tributary/inbox/solana/keys";
import type { FoundBurns } from "../bridge/searchBurns.ts";
import type { RpcRequester } from "../rpc/rpcRequester.ts";
import type { RecoverableInbox } from "./parseSolanaInboxes.ts";
import { searchSolanaBurns } from "./searchSolanaBurns.ts";

/** One nonzero token account of an inbox. */
export type SolanaHolding = {
  readonly recoverable: RecoverableInbox;
  readonly tokenAccount: string;
  readonly mint: string;
  readonly tokenProgram: string;
  readonly units: bigint;
  /** Whether it is the mint of the terms. */
  readonly isPinned: boolean;
};

export type SolanaInspection = {
  /** The cluster's clock in Unix seconds, which the program uses. */
  readonly timestamp: number;
  readonly holdings: readonly SolanaHolding[];
  /** Tokens that were sent to the token account of an inbox as if it were a wallet. */
  readonly nested: readonly NestedHolding[];
  /** Coins of each inbox that has some. */
  readonly lamports: readonly InboxLamports[];
  /** What the inboxes burned here for their payout's chain, received there or not. */
  readonly burned: FoundBurns;
};

export type NestedHolding = { readonly recoverable: RecoverableInbox; readonly mint: string; readonly units: bigint };
export type InboxLamports = { readonly recoverable: RecoverableInbox; readonly lamports: bigint };

const CLOCK_SYSVAR = "SysvarC1ock11111111111111111111111111111111";
const CLOCK_TIME = 32;
const TOKEN_MINT = 0;
const TOKEN_AMOUNT = 64;
const MINT_DECIMALS = 44;

type AccountInfo = {
  readonly data: readonly [base64: string, encoding: string];
  readonly lamports: number;
  readonly owner: string;
};

/** The first 32 characters of the genesis hash: the cluster's CAIP-2 reference. */
export async function readCluster(request: RpcRequester): Promise<string> {
  const hash = await request("getGenesisHash", []);
  return typeof hash === "string" ? hash.slice(0, 32) : "";
}

/** Reads every token account of the inboxes from the cluster alone. */
export async function inspectSolana(
  request: RpcRequester,
  recoverables: readonly RecoverableInbox[],
  onProgress: (done: number, total: number) => void = () => {},
): Promise<SolanaInspection> {
  const clock = await readAccount(request, CLOCK_SYSVAR);
  if (clock === undefined) throw new Error("the cluster has no clock");
  const holdings: SolanaHolding[] = [];
  const nested: NestedHolding[] = [];
  const lamports: InboxLamports[] = [];
  for (const [index, recoverable] of recoverables.entries()) {
    onProgress(index, recoverables.length);
    holdings.push(...(await readHoldings(request, recoverable)));
    nested.push(...(await readNested(request, recoverable)));
    const info = await readAccountInfo(request, recoverable.inbox.address);
    if (info !== undefined && info.lamports > 0) lamports.push({ recoverable, lamports: BigInt(info.lamports) });
  }
  const burned = await searchSolanaBurns(request, recoverables);
  return { timestamp: Number(viewOf(clock).getBigInt64(CLOCK_TIME, true)), holdings, nested, lamports, burned };
}

/** The data of an account; undefined when it does not exist. */
export async function readAccount(request: RpcRequester, address: string): Promise<Uint8Array | undefined> {
  const info = await readAccountInfo(request, address);
  return info === undefined ? undefined : decodeBase64(info.data[0]);
}

/** The program that owns an account; undefined when it does not exist. */
export async function readOwner(request: RpcRequester, address: string): Promise<string | undefined> {
  return (await readAccountInfo(request, address))?.owner;
}

async function readAccountInfo(request: RpcRequester, address: string): Promise<AccountInfo | undefined> {
  const answer = (await request("getAccountInfo", [address, { encoding: "base64", commitment: "confirmed" }])) as {
    value: AccountInfo | null;
  };
  return answer.value ?? undefined;
}

/** The decimal places of a mint; 0 where the account is none. */
export async function readDecimals(request: RpcRequester, mint: string): Promise<number> {
  return (await readAccount(request, mint))?.[MINT_DECIMALS] ?? 0;
}

/** Throws an Error for a token account. It owns no account that its holder would look at. */
export async function requireWallet(request: RpcRequester, address: string): Promise<void> {
  const info = await readAccountInfo(request, address);
  if (info !== undefined && [tokenProgram, token2022Program].includes(info.owner))
    throw new Error(`${address} is a token account or a mint: name the wallet that owns the account`);
}

async function readHoldings(request: RpcRequester, recoverable: RecoverableInbox): Promise<SolanaHolding[]> {
  const { address, terms } = recoverable.inbox;
  const found: SolanaHolding[] = [];
  for (const program of [tokenProgram, token2022Program])
    for (const { tokenAccount, mint, units } of await readTokenAccounts(request, address, program))
      found.push({ recoverable, tokenAccount, mint, tokenProgram: program, units, isPinned: mint === terms.mint });
  return found;
}

/** Only the associated token account of the inbox's token program can be returned. */
async function readNested(request: RpcRequester, recoverable: RecoverableInbox): Promise<NestedHolding[]> {
  const { tokenAccount: owner, tokenProgram: program } = recoverable.inbox;
  const accounts = await readTokenAccounts(request, owner, program);
  return accounts
    .filter(({ tokenAccount, mint }) => tokenAccount === deriveTokenAccount(owner, mint, program).address)
    .map(({ mint, units }) => ({ recoverable, mint, units }));
}

type TokenBalance = { readonly tokenAccount: string; readonly mint: string; readonly units: bigint };

/** The nonzero token accounts of an owner. */
async function readTokenAccounts(request: RpcRequester, owner: string, programId: string): Promise<TokenBalance[]> {
  const options = { encoding: "base64", commitment: "confirmed" };
  const answer = (await request("getTokenAccountsByOwner", [owner, { programId }, options])) as {
    value: readonly { readonly pubkey: string; readonly account: AccountInfo }[];
  };
  const balances = answer.value.map(({ pubkey, account }) => {
    const data = decodeBase64(account.data[0]);
    const mint = encodeKey(data.slice(TOKEN_MINT, TOKEN_MINT + 32));
    return { tokenAccount: pubkey, mint, units: viewOf(data).getBigUint64(TOKEN_AMOUNT, true) };
  });
  return balances.filter(({ units }) => units > 0n);
}

function decodeBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
