import type { Mutant } from "../sim/mutant.ts";

const SENDER = "src/chain/solana/send/solanaSender.test.ts";
const UNUSUAL = "test/solana/unusualTransactions.test.ts";
const PROVIDERS = "test/road/solanaProviders.test.ts";

/** Bugs of settling and watching on Solana, each with the test that must fail because of it. */
export const solanaMutants: readonly (Mutant & { test: string })[] = [
  {
    name: "signs-anew-before-final",
    bug: "A transaction counts as expired at a height that is only confirmed, so that a fork may still include it.",
    test: SENDER,
    patches: [
      {
        path: "src/chain/solana/send/sendRequests.ts",
        search: `node.request("getBlockHeight", [FINALIZED])`,
        replace: `node.request("getBlockHeight", [CONFIRMED])`,
      },
    ],
  },
  {
    name: "one-height-is-enough",
    bug: "A transaction counts as expired when one provider claims a height past its last block.",
    test: SENDER,
    patches: [
      {
        path: "src/chain/solana/send/processTransactions.ts",
        search: "past.length >= witnessesMin && past",
        replace: "past.length >= Math.min(1, witnessesMin) && past.length > 0 && past",
      },
    ],
  },
  {
    name: "closes-unfinal",
    bug: "A transaction is closed before its block is final.",
    test: SENDER,
    patches: [
      {
        path: "src/chain/solana/send/processTransactions.ts",
        search: "found.filter(({ status }) => status.isFinal)",
        replace: "found.filter(({ status }) => status.slot > 0n)",
      },
    ],
  },
  {
    name: "payout-account-forgotten",
    bug: "A missing token account is not created.",
    test: SENDER,
    patches: [
      {
        path: "src/chain/solana/send/simulateSettlement.ts",
        search: "recipients.filter((_, index) => accounts[index] === undefined)",
        replace: "recipients.filter((_, index) => accounts.length < index)",
      },
    ],
  },
  {
    name: "wrong-fee-account",
    bug: "The fee goes to the payout wallet's account.",
    test: "test/road/solana.test.ts",
    patches: [
      {
        path: "src/chain/solana/intentInbox.ts",
        search: "owner: pins.fee_recipient, mint, tokenProgram",
        replace: "owner: pins.payout_wallet, mint, tokenProgram",
      },
    ],
  },
  {
    name: "one-refusal-is-enough",
    bug: "One provider's refusal holds a settlement.",
    test: SENDER,
    patches: [
      {
        path: "src/chain/solana/send/simulateSettlement.ts",
        search: `return "plan" in second ? second : outlook;`,
        replace: `return "plan" in second ? outlook : second;`,
      },
    ],
  },
  {
    name: "first-provider-only",
    bug: "Balances come from the first provider in every pass.",
    test: PROVIDERS,
    patches: [
      {
        path: "src/watch/accounts/followAccounts.ts",
        search: "if (position === null) order.isReverse = !order.isReverse;",
        replace: "if (position === null) order.isReverse = false;",
      },
    ],
  },
  {
    name: "missing-balance-is-zero",
    bug: "A transaction that names a token account and no token program counts as one that emptied it.",
    test: UNUSUAL,
    patches: [
      {
        path: "src/chain/solana/read/accountHistory.ts",
        search: "of history.transactions.filter(mayMoveTokens)",
        replace: "of history.transactions",
      },
    ],
  },
  {
    name: "version-1-is-unknown",
    bug: "Transactions of version 1 are not read.",
    test: UNUSUAL,
    patches: [
      {
        path: "src/chain/solana/rpc/parseTransaction.ts",
        search: "export const VERSION_MAX = 1;",
        replace: "export const VERSION_MAX = 0;",
      },
    ],
  },
  {
    name: "sweep-takes-later-money",
    bug: "What comes in after a sweep in the same transaction counts as taken by it.",
    test: UNUSUAL,
    patches: [
      {
        path: "src/chain/solana/read/transactionTransfers.ts",
        search: "const late = left < gained ? left : gained;",
        replace: "const late = left < 0n ? left : 0n;",
      },
    ],
  },
  {
    name: "search-stops-the-pass",
    bug: "An inbox whose transfers cannot be read stops the comparison of all others.",
    test: "src/watch/accounts/followAccounts.test.ts",
    patches: [
      {
        path: "src/watch/accounts/explainBalances.ts",
        search: "    if (!(error instanceof ProviderFailed)) throw error;",
        replace: "    if (error instanceof Error) throw error;",
      },
    ],
  },
];
