import { ProviderFailed } from "../../reader.ts";
import { UnreadableTransaction, type SolanaTransaction } from "../rpc/parseTransaction.ts";
import type { SolanaRpc } from "../rpc/solanaRpc.ts";
import type { SignatureList } from "./listSignatures.ts";
import { TOKEN_PROGRAMS } from "./mints.ts";

// A token account changes only in transactions that name it and a token program. So its balances show whether a
// provider listed all of them: what each found is what the one before it left, the first found no account, and the last
// left what the account holds now.

export type AccountHistory = {
  account: string;
  /** Those of the range that succeeded and can be read, in the order of the chain. */
  transactions: readonly SolanaTransaction[];
  /** The slots of those of the range that nobody can read. What they changed is not known. */
  gaps: readonly bigint[];
  list: SignatureList | undefined;
  /** What the account holds at a slot. */
  units: bigint;
  slot: bigint;
};

/**
 * Whether the transaction may change token accounts. Nodes list the token balances of no other transaction, so that a
 * missing balance of one says nothing: anybody can name an account.
 */
function mayMoveTokens({ keys }: SolanaTransaction): boolean {
  return keys.some((key) => TOKEN_PROGRAMS.includes(key));
}

/** @throws ProviderFailed when a transaction is missing. */
export function assertUnbroken(name: string, history: AccountHistory): void {
  const { account, gaps, list, units, slot } = history;
  const hasGap = (from: bigint, to: bigint) => gaps.some((gap) => gap >= from && gap <= to);
  let left: bigint | undefined = list?.beginning ? 0n : undefined;
  let leftAtSlot = left;
  let last: SolanaTransaction | undefined;
  for (const transaction of history.transactions.filter(mayMoveTokens)) {
    if (hasGap(last?.slot ?? 0n, transaction.slot)) left = undefined;
    const found = balanceIn(transaction.before, account)?.units ?? 0n;
    if (left !== undefined && found !== left)
      throw last === undefined
        ? lacksBeginning(name, account)
        : new ProviderFailed(
            "contradictory",
            `${name} left out a transaction of ${account} before ${transaction.signature}`,
          );
    left = balanceIn(transaction.after, account)?.units ?? 0n;
    last = transaction;
    if (transaction.slot <= slot) leftAtSlot = left;
  }
  const isNewer = list?.nextSlot !== undefined && list.nextSlot <= slot;
  if (leftAtSlot === undefined || isNewer || leftAtSlot === units || hasGap(last?.slot ?? 0n, slot)) return;
  throw new ProviderFailed("unknown_block", `${name} shows a balance of ${account} without its last transactions`);
}

/**
 * A list that ends above the range must begin with the creation of its account, or the node has dropped older
 * transactions.
 * @throws ProviderFailed `unknown_block`: another provider may have them.
 */
export async function assertBeginnings(rpc: SolanaRpc, histories: readonly AccountHistory[]): Promise<void> {
  const known = new Map(
    histories.flatMap(({ transactions }) => transactions.map((each) => [each.signature, each] as const)),
  );
  const begun = histories.flatMap(({ account, list }) => {
    const signatures = list?.beginning?.map(({ signature }) => signature) ?? [];
    return signatures.length === 0 ? [] : [{ account, signatures }];
  });
  const missing = [...new Set(begun.flatMap(({ signatures }) => signatures))].filter((each) => !known.has(each));
  for (const each of missing.length === 0 ? [] : await rpc.transactions(missing))
    if (each && !(each instanceof UnreadableTransaction)) known.set(each.signature, each);
  for (const { account, signatures } of begun) {
    // The order of a slot is not known here. One of them created the account, or merely named it before.
    const oldest = signatures.flatMap((signature) => known.get(signature) ?? []);
    const isComplete = oldest.length === signatures.length && oldest.every(mayMoveTokens);
    if (isComplete && oldest.every(({ before }) => balanceIn(before, account) !== undefined))
      throw lacksBeginning(rpc.name, account);
  }
}

function lacksBeginning(name: string, account: string): ProviderFailed {
  return new ProviderFailed("unknown_block", `${name} lacks the first transactions of ${account}`);
}

function balanceIn(balances: SolanaTransaction["before"], account: string) {
  return balances.find((each) => each.account === account);
}
