import { computeSolanaInbox } from "@tributary/inbox/solana/address";
import { verifySolanaInbox } from "@tributary/inbox/solana/verify";
import { solanaTermsFromWire } from "@tributary/inbox/solana/wire";
import { referenceOf } from "../../kernel/caip.ts";
import { formatUnits } from "../../kernel/units.ts";
import type { IntentSnapshot } from "../../operator/intentOperations.ts";
import type { SolanaPayer } from "../../operator/client/solanaPayer.ts";
import { CommandError } from "../../operator/errors.ts";
import { compareTexts, type Check, type DemoIntent } from "./context.ts";

// The checks of the demo that only payments on Solana need.

const SOL_DECIMALS = 9;

/**
 * Computes the inbox from its terms, as a payer's own program does, and compares what they say with what the shop asked
 * for.
 */
export function checkSolanaInbox(
  intent: DemoIntent,
  { payer, payoutWallet }: { payer: SolanaPayer; payoutWallet: string },
): Check {
  const terms = getTerms(intent);
  const verified = verifySolanaInbox(terms, {
    kind: "pay",
    address: intent.inboxAddress,
    cluster: referenceOf(payer.caip2),
    // No release has published a program for the local cluster.
    program: terms.program,
    mint: intent.payout.tokenAddress,
    payoutWallet,
    feeBpsMax: intent.feeBps,
    recovery: terms.recovery,
  });
  const what = "the address that its terms give is";
  if (!verified.ok) return compareTexts(what, intent.inboxAddress, verified.reason);
  return compareTexts(what, intent.inboxAddress, computeSolanaInbox(solanaTermsFromWire(terms), terms).address);
}

/**
 * Checks that the rent which the payer put into the inbox's token account came back to the service. Both amounts are
 * read from the transactions: what the first one put in, and what the rent recipient gained in the second one, without
 * the fee and the rent of other accounts that it created or closed.
 */
export async function checkRent(
  { intent, settlements }: IntentSnapshot,
  payer: SolanaPayer,
  paymentTx: string,
): Promise<Check> {
  const terms = getTerms(intent);
  const { tokenAccount } = computeSolanaInbox(solanaTermsFromWire(terms), terms);
  const settlementTx = settlements[0]?.txs.at(-1)?.txHash;
  if (settlementTx === undefined) throw new CommandError("The settlement has no transaction.");
  const [payment, settlement] = await Promise.all([paymentTx, settlementTx].map((tx) => payer.readLamports(tx)));
  if (payment === undefined || settlement === undefined) throw new CommandError("A transaction cannot be read.");
  const put = payment.changes.find(({ address }) => address === tokenAccount);
  let returned = settlement.feeLamports;
  for (const { address, before, after } of settlement.changes) {
    const isOtherRent = before === 0n || (after === 0n && address !== tokenAccount);
    if (address === terms.rentRecipient || isOtherRent) returned += after - before;
  }
  const format = (lamports: bigint) => `${formatUnits(lamports, SOL_DECIMALS)} SOL`;
  return compareTexts(
    "the rent of its token account that came back is",
    format((put?.after ?? 0n) - (put?.before ?? 0n)),
    format(returned),
  );
}

type Terms = NonNullable<DemoIntent["inboxTerms"]["solana"]>;

function getTerms({ inboxTerms }: DemoIntent): Terms {
  if (inboxTerms.solana === undefined) throw new CommandError("The intent has no terms of an inbox on Solana.");
  return inboxTerms.solana;
}
