import { computeInboxAddress } from "@tributary/inbox/address";
import { hubAddress } from "@tributary/inbox/hub";
import type { Hex, Terms } from "@tributary/inbox/terms";
import { TEST_CHAIN_CONFIG } from "../support/stationWorld.ts";
import { newAddress, type EvmChainUnderTest } from "./chainUnderTest.ts";

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

/** The first salts are those of other suites. */
let salt = 1_000;

/** What a chain with the hub has in common with others, for its plain token. */
export function hubInboxes(
  chainId: number,
  token: string,
): Pick<
  EvmChainUnderTest,
  "config" | "feeRecipient" | "newAddress" | "newItem" | "emptySettlementStatus" | "termsOf" | "chainId"
> {
  const termsOf: EvmChainUnderTest["termsOf"] = (fields) => inboxTerms(chainId, fields);
  return {
    chainId,
    config: TEST_CHAIN_CONFIG,
    feeRecipient: FEE_RECIPIENT,
    newAddress,
    newItem: (payout) => {
      salt += 1;
      const terms = termsOf({ salt, token, payout });
      return { inbox: computeInboxAddress(terms), token, hub: hubAddress, terms };
    },
    emptySettlementStatus: "mined",
    termsOf,
  };
}
