import { deriveTokenAccount } from "@tributary/inbox/solana/derive";
import { token2022Program, tokenProgram as splTokenProgram } from "@tributary/inbox/solana/keys";
import type { TokenConfig } from "../../../config/config.ts";
import { ChainMismatch } from "../../providers.ts";
import { describeInboxProgram, readInboxProgram } from "../inboxProgram.ts";
import { readMint, readTokenAccount, refusedExtensions } from "../mintExtensions.ts";
import type { SolanaSenderContext } from "./senderContext.ts";
import { fetchAccounts, type AccountState } from "./sendRequests.ts";

export type MintConfig = Pick<
  TokenConfig,
  "symbol" | "address" | "decimals" | "isRail" | "tokenProgram" | "acceptedExtensions"
>;

/**
 * Verifies what settling needs on the cluster. Throws ChainMismatch with one sentence for the first thing that is
 * missing.
 */
export async function verifySettling(
  context: SolanaSenderContext,
  { name, tokens }: { name: string; tokens: readonly MintConfig[] },
): Promise<void> {
  const { feePayer, program, feeRecipient } = context;
  const state = await readInboxProgram(program, (address) => readAccount(context, address));
  if (state.kind !== "present")
    throw new ChainMismatch(`${name}: the inbox program ${program} ${describeInboxProgram(state)}.`);
  for (const token of tokens) {
    const problem = findMintProblem(token, await readAccount(context, token.address));
    if (problem !== undefined) throw new ChainMismatch(`${name}: ${token.symbol} at ${token.address} ${problem}.`);
  }
  for (const token of tokens.filter(({ isRail }) => isRail)) {
    const { tokenProgram = splTokenProgram } = token;
    const { address } = deriveTokenAccount(feeRecipient, token.address, tokenProgram);
    const problem = findFeeAccountProblem(
      { ...token, tokenProgram, feeRecipient },
      await readAccount(context, address),
    );
    if (problem !== undefined)
      throw new ChainMismatch(
        `${name}: the fee wallet ${feeRecipient} ${problem} (${address}), so that every fee in ${token.symbol} would be lost.`,
      );
  }
  if ((await readAccount(context, feePayer.address)) === undefined)
    throw new ChainMismatch(`${name}: the fee payer ${feePayer.address} has no lamports; send SOL to it.`);
}

async function readAccount({ providers }: SolanaSenderContext, address: string): Promise<AccountState | undefined> {
  const [account] = await providers.run((node) => fetchAccounts(node, [address], "finalized"));
  return account;
}

/** Why a mint is not as configured, to end a sentence; undefined where it is. */
export function findMintProblem(token: MintConfig, account: AccountState | undefined): string | undefined {
  const { tokenProgram = splTokenProgram, decimals, acceptedExtensions = [] } = token;
  if (account === undefined) return "does not exist";
  if (account.owner !== tokenProgram)
    return `belongs to ${nameProgram(account.owner)}, and ${nameProgram(tokenProgram)} is configured`;
  const mint = readMint(account.data);
  if (mint === undefined) return "is no mint";
  if (mint.decimals !== decimals) return `has ${mint.decimals} decimals, and ${decimals} are configured`;
  const refused = refusedExtensions(mint, acceptedExtensions);
  return refused.length === 0 ? undefined : `has extensions that are not accepted: ${refused.join(", ")}`;
}

function findFeeAccountProblem(
  expected: { address: string; tokenProgram: string; feeRecipient: string },
  account: AccountState | undefined,
): string | undefined {
  if (account === undefined) return "has no token account of it";
  const token = account.owner === expected.tokenProgram ? readTokenAccount(account.data) : undefined;
  if (token === undefined || token.mint !== expected.address) return "has no token account of it";
  if (token.owner !== expected.feeRecipient) return `does not own its token account, which belongs to ${token.owner}`;
  if (token.state === "frozen") return "has a frozen token account";
  return token.forfeitsFees ? "has a token account that does not accept plain transfers" : undefined;
}

function nameProgram(program: string): string {
  if (program === splTokenProgram) return "the SPL Token program";
  return program === token2022Program ? "the Token-2022 program" : `the program ${program}`;
}
