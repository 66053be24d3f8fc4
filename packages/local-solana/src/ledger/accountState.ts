import { Account } from "litesvm/dist/internal.js";

/** An account as plain values, which can be stored. */
export type AccountState = {
  readonly lamports: bigint;
  readonly data: Uint8Array;
  readonly owner: Uint8Array;
  readonly isExecutable: boolean;
};

export function storeAccount(account: Account): AccountState {
  const [data, owner] = [new Uint8Array(account.data()), new Uint8Array(account.owner())];
  return { lamports: account.lamports(), data, owner, isExecutable: account.executable() };
}

export function restoreAccount({ lamports, data, owner, isExecutable }: AccountState): Account {
  return new Account(lamports, new Uint8Array(data), new Uint8Array(owner), isExecutable, 0n);
}

export function storeAccounts(accounts: ReadonlyMap<string, Account | null>): Map<string, AccountState | null> {
  return new Map([...accounts].map(([key, account]) => [key, account === null ? null : storeAccount(account)]));
}

export function restoreAccounts(accounts: ReadonlyMap<string, AccountState | null>): Map<string, Account | null> {
  return new Map([...accounts].map(([key, account]) => [key, account === null ? null : restoreAccount(account)]));
}
