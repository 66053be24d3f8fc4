import type { ChainConfig, TokenConfig } from "../../config/config.ts";
import { ProviderFailed } from "../reader.ts";
import type { TokenProblem } from "../tokenProblems.ts";
import { readAuthorities } from "./mintExtensions.ts";
import type { SolanaSenderContext } from "./send/senderContext.ts";
import { fetchAccounts, type AccountState } from "./send/sendRequests.ts";
import { findMintProblem } from "./send/verifySettling.ts";

// An issuer can change a mint while the service runs. The start verifies mints once; this finds what has changed since.

/** So many providers must report a change, where so many answer. */
const WITNESSES_MIN = 2;
/** Accounts of one request. */
const MINTS_MAX = 100;

/**
 * Reads every configured mint and finds what is wrong with it. Remembers the authorities that it saw first, and the
 * mints that settle nothing until they are right again. Throws ProviderFailed when no provider answers; the last result
 * then stays.
 */
export async function checkMints(
  context: SolanaSenderContext,
  { tokens }: Pick<ChainConfig, "tokens">,
): Promise<TokenProblem[]> {
  const answers = await readMints(context, tokens);
  const needed = Math.min(WITNESSES_MIN, answers.length);
  const problems = tokens.flatMap((token, index) => {
    const accounts = answers.map((accounts) => accounts[index]);
    return findProblem(context, { token, accounts, needed }) ?? [];
  });
  context.heldMints.clear();
  for (const { token, reason, holdsSettlements } of problems)
    if (holdsSettlements) context.heldMints.set(token, reason);
  return problems;
}

type Answer = readonly (AccountState | undefined)[];

async function readMints({ providers }: SolanaSenderContext, tokens: readonly TokenConfig[]): Promise<Answer[]> {
  const addresses = tokens.map(({ address }) => address);
  const replies = await providers.runAll(async (node) => {
    const accounts: (AccountState | undefined)[] = [];
    for (let start = 0; start < addresses.length; start += MINTS_MAX)
      accounts.push(...(await fetchAccounts(node, addresses.slice(start, start + MINTS_MAX), "finalized")));
    return accounts;
  });
  const answers = replies.flatMap((each) => ("answer" in each ? [each.answer] : []));
  if (answers.length === 0) throw new ProviderFailed("unreachable", "no provider answers about the mints");
  return answers;
}

type Reading = { token: TokenConfig; accounts: readonly (AccountState | undefined)[]; needed: number };

function findProblem(context: SolanaSenderContext, { token, accounts, needed }: Reading): TokenProblem | undefined {
  const problems = accounts.flatMap((account) => findMintProblem(token, account) ?? []);
  if (problems.length >= needed) return { token: token.address, reason: problems[0] ?? "", holdsSettlements: true };
  const authorities = accounts.flatMap((account) => (account === undefined ? [] : [readAuthorities(account.data)]));
  const before = context.mintAuthorities.get(token.address);
  if (before === undefined) {
    const agreed = authorities.find((one) => authorities.filter((other) => other === one).length >= needed);
    if (agreed !== undefined) context.mintAuthorities.set(token.address, agreed);
    return undefined;
  }
  const changed = authorities.filter((now) => now !== before);
  if (changed.length < needed) return undefined;
  // Money that arrived before still goes to its payout: to keep it in the inbox would protect nobody.
  const reason = `has other authorities than at the start: ${changed[0]}, before ${before}`;
  return { token: token.address, reason, holdsSettlements: false };
}
