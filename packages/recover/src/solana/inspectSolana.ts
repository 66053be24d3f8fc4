import { encodeKey, token2022Program, tokenProgram } from "@tributary/inbox/solana/keys";
import type { RpcRequester } from "../inspectChain.ts";
import type { RecoverableInbox } from "./parseSolanaInboxes.ts";

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
};

const CLOCK_SYSVAR = "SysvarC1ock11111111111111111111111111111111";
const CLOCK_TIME = 32;
const TOKEN_MINT = 0;
const TOKEN_AMOUNT = 64;

type AccountInfo = { readonly data: readonly [base64: string, encoding: string] };

/** The first 32 characters of the genesis hash: the cluster's CAIP-2 reference. */
export async function readCluster(request: RpcRequester): Promise<string> {
  const hash = await request("getGenesisHash", []);
  return typeof hash === "string" ? hash.slice(0, 32) : "";
}

/** Reads every token account of the inboxes from the cluster alone. */
export async function inspectSolana(
  request: RpcRequester,
  recoverables: readonly RecoverableInbox[],
): Promise<SolanaInspection> {
  const clock = await readAccount(request, CLOCK_SYSVAR);
  if (clock === undefined) throw new Error("the cluster has no clock");
  const holdings: SolanaHolding[] = [];
  for (const recoverable of recoverables) holdings.push(...(await readHoldings(request, recoverable)));
  return { timestamp: Number(viewOf(clock).getBigInt64(CLOCK_TIME, true)), holdings };
}

/** The data of an account; undefined when it does not exist. */
export async function readAccount(request: RpcRequester, address: string): Promise<Uint8Array | undefined> {
  const answer = (await request("getAccountInfo", [address, { encoding: "base64", commitment: "confirmed" }])) as {
    value: AccountInfo | null;
  };
  return answer.value === null ? undefined : decodeBase64(answer.value.data[0]);
}

async function readHoldings(request: RpcRequester, recoverable: RecoverableInbox): Promise<SolanaHolding[]> {
  const { address, terms } = recoverable.inbox;
  const found: SolanaHolding[] = [];
  for (const program of [tokenProgram, token2022Program]) {
    const options = { encoding: "base64", commitment: "confirmed" };
    const answer = (await request("getTokenAccountsByOwner", [address, { programId: program }, options])) as {
      value: readonly { readonly pubkey: string; readonly account: AccountInfo }[];
    };
    for (const { pubkey: tokenAccount, account } of answer.value) {
      const data = decodeBase64(account.data[0]);
      const mint = encodeKey(data.slice(TOKEN_MINT, TOKEN_MINT + 32));
      const units = viewOf(data).getBigUint64(TOKEN_AMOUNT, true);
      if (units > 0n)
        found.push({ recoverable, tokenAccount, mint, tokenProgram: program, units, isPinned: mint === terms.mint });
    }
  }
  return found;
}

function decodeBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
