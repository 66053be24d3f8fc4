import { encodeKey } from "@tributary/inbox/solana/keys";
import { ACCOUNTS_MAX, type Accounts, type SolanaAccount, type SolanaRpc } from "../rpc/solanaRpc.ts";

// The layout of a token account, which both token programs share.

const OWNER = 32;
const UNITS = 64;
const STATE = 108;
const INITIALIZED = 1;
const FROZEN = 2;
const HEAD_BYTES = STATE + 1;
/** Requests at a time. */
const REQUESTS_MAX = 4;

/** The account that should hold an owner's tokens. */
export type ExpectedAccount = { account: string; owner: string; mint: string; tokenProgram: string };

export type AccountUnits = {
  /** The lowest and the highest slot of the answers. */
  lowestSlot: bigint;
  highestSlot: bigint;
  /** Undefined where the account does not exist. */
  units: (bigint | undefined)[];
};

/** Reads balances at the commitment `confirmed`, in the order of `expected`, which must not be empty. */
export async function readHoldings(rpc: SolanaRpc, expected: readonly ExpectedAccount[]): Promise<AccountUnits> {
  const parts: ExpectedAccount[][] = [];
  for (let start = 0; start < expected.length; start += ACCOUNTS_MAX)
    parts.push(expected.slice(start, start + ACCOUNTS_MAX));
  const answers: Accounts[] = [];
  for (let start = 0; start < parts.length; start += REQUESTS_MAX) {
    const group = parts.slice(start, start + REQUESTS_MAX);
    const read = (part: readonly ExpectedAccount[]) =>
      rpc.accounts(
        part.map(({ account }) => account),
        HEAD_BYTES,
      );
    answers.push(...(await Promise.all(group.map(read))));
  }
  const slots = answers.map(({ slot }) => slot).toSorted((one, other) => (one < other ? -1 : 1));
  const accounts = answers.flatMap((answer) => answer.accounts);
  return {
    lowestSlot: slots[0] ?? 0n,
    highestSlot: slots.at(-1) ?? 0n,
    units: expected.map((each, index) => countUnits(accounts[index], each)),
  };
}

/**
 * The balance of an account that belongs to this owner and mint, a frozen one included. Anything else at the address
 * holds nothing of them.
 */
function countUnits(account: SolanaAccount | undefined, expected: ExpectedAccount): bigint | undefined {
  if (account === undefined) return undefined;
  const { owner, data } = account;
  if (owner !== expected.tokenProgram || data.length < HEAD_BYTES) return 0n;
  const state = data.readUInt8(STATE);
  const isExpected =
    (state === INITIALIZED || state === FROZEN) &&
    keyAt(data, 0) === expected.mint &&
    keyAt(data, OWNER) === expected.owner;
  return isExpected ? data.readBigUInt64LE(UNITS) : 0n;
}

function keyAt(data: Buffer, offset: number): string {
  return encodeKey(new Uint8Array(data.subarray(offset, offset + 32)));
}
