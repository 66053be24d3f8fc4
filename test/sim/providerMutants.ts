import { solanaMutants } from "../solana/mutants.ts";
import type { Mutant } from "./mutant.ts";

/** Planted bugs of the answers that providers give. */
export const providerMutants: readonly Mutant[] = [
  {
    name: "one-provider-is-believed",
    bug: "Deposits count on one provider's view, whatever agreement the policy requires.",
    patches: [
      {
        path: "src/deposit/agreement/agreement.ts",
        search: "if (units > agreement.abovePriceUnits) for (",
        replace: "if (units > agreement.abovePriceUnits + 10n ** 30n) for (",
      },
    ],
  },
  {
    name: "sweep-of-another-inbox",
    bug: "One provider's word lands a settlement, and a real transfer at the same place confirms it for any inbox.",
    scene: "lyingSweeps",
    patches: [
      {
        path: "src/settlement/agreement/sweepAgreement.ts",
        search: "return sum > abovePriceUnits;",
        replace: "return sum > abovePriceUnits + 10n ** 30n;",
      },
      {
        path: "src/watch/movement.ts",
        search: "return isBetween && transfer.place === row.place",
        replace: "return (isBetween || transfer.place >= 0n) && transfer.place === row.place",
      },
    ],
  },
  {
    name: "misplaced-logs-count",
    bug: "A log's block number is not compared with its block.",
    patches: [
      {
        path: "src/chain/checkedReader.ts",
        search: "if (!isInScope(transfer, request.scope))",
        replace: "if (request.tokens.length < 0)",
      },
      {
        path: "src/watch/movement.ts",
        search: "if (proof?.blockHash === blockHash && proof.blockNumber !== blockNumber)",
        replace: "if (proof !== undefined && blockNumber < 0n)",
      },
    ],
  },
  {
    name: "balances-stay-different",
    bug: "A balance that differs from the ledger starts no search.",
    patches: [
      {
        path: "src/watch/reconcile/reconcileBalances.ts",
        search: "  const differing = balances.filter(isDifferent);",
        replace: "  const differing = balances.filter((each) => isDifferent(each) && each.blockNumber < 0n);",
      },
    ],
  },
  {
    name: "contradiction-stops-recording",
    bug: "A provider that lacks a block below its head is asked again instead of another provider.",
    patches: [
      {
        path: "src/chain/providers.ts",
        search: `return error instanceof ProviderFailed && error.kind !== "range_too_large";`,
        replace: `return error instanceof ProviderFailed && error.kind !== "range_too_large" && error.kind !== "unknown_block";`,
      },
    ],
  },
  {
    name: "search-before-the-pass",
    bug: "An inbox whose transfers cannot be read stops the comparison of all others.",
    scene: "unsearchableInboxes",
    patches: patchesOf("search-stops-the-pass"),
  },
  {
    name: "unreadable-stops-the-chain",
    bug: "What no reader can parse is never left out, so that it stops the range that it stands in.",
    patches: [
      {
        path: "src/watch/unreadable/acceptUnreadable.ts",
        search: "  if (unknown.length === 0) return true;",
        replace: "  if (unknown.length >= 0) return false;",
      },
    ],
  },
  {
    name: "pushed-head-is-believed",
    bug: "A pushed head is recorded without a check of its block.",
    patches: [
      {
        path: "src/watch/follow/followHeads.ts",
        search:
          "if (block?.number !== head.number || block.hash !== head.hash || block.parentHash !== head.parentHash)",
        replace: "if (block === undefined && head.number < 0n)",
      },
    ],
  },
];

/** Those of a bug that a test on Solana finds as well. */
function patchesOf(name: string): Mutant["patches"] {
  return solanaMutants.find((mutant) => mutant.name === name)?.patches ?? [];
}
