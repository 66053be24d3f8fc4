import { DEFAULT_SCOPES } from "../../merchant/keys/scopes.ts";
import type { FromSchema } from "./jsonSchema.ts";
import type { account, pageOriginList } from "./records/account.ts";

export const accountExample: FromSchema<typeof account> = {
  object: "account",
  accountId: "acct_3x7m9q2k5v8w1y4z6b0c3d5f7g",
  name: "Harbor Books",
  environment: "live",
  payout: { chain: "eip155:8453", wallet: "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", currency: "USDC" },
  feeBps: 50,
  underpayToleranceBps: 0,
  recovery: null,
  solanaRecovery: null,
  evmPayout: null,
  solanaPayout: null,
  origins: null,
  limitMultiple: 1,
  brand: { accent: "#7a1f3d", accentDark: null, radius: 12, font: null, logo: null },
  support: "mailto:help@shop.example",
  scopes: [...DEFAULT_SCOPES],
  limits: [{ operationId: "createPaymentIntent", perMinute: 30, perMinuteAndIntent: null }],
};

export const pageOriginsExample: FromSchema<typeof pageOriginList> = {
  origins: ["https://shop.example", "https://staging.shop.example:8443"],
};
