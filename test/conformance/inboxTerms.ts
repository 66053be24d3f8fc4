import type { Hex, Terms } from "@tributary/inbox/terms";

export const FEE_RECIPIENT = `0x${"fe".repeat(20)}` as const;
/** Half a percent. */
const FEE_BPS = 50;

/** The terms of an inbox with the suite's fee. */
export function inboxTerms(chainId: number, fields: { salt: number; token: string; payout: string }): Terms {
  return {
    salt: `0x${fields.salt.toString(16).padStart(64, "0")}`,
    settleChainId: BigInt(chainId),
    settleToken: fields.token as Hex,
    payout: fields.payout as Hex,
    feeRecipient: FEE_RECIPIENT,
    feeBps: FEE_BPS,
    recovery: fields.payout as Hex,
    recoverAfter: 1_900_000_000,
    routesRoot: `0x${"0".repeat(64)}`,
  };
}
