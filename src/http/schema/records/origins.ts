import { recordSchema } from "../jsonSchema.ts";
import { tokenAccountProperties } from "./tokenAccount.ts";
import { address, caip10, caip19, chainReference, namespace, units } from "../values.ts";

export const token = recordSchema("A token on its chain.", {
  symbol: { type: "string", examples: ["USDC"] },
  address,
  decimals: { type: "integer", minimum: 0 },
});

const chainId = {
  type: "integer",
  description: "The EVM chain id; for Solana 101 on mainnet, 102 on testnet, 103 on devnet, 104 on a local chain.",
} as const;

const explorerUrl = { type: "string", format: "uri" } as const;

export const sourceOrigin = recordSchema("A chain and token from which a payer may deposit.", {
  namespace,
  reference: chainReference,
  chainId,
  name: { type: "string", description: "The chain's name." },
  shortName: { type: "string", description: "The chain's slug." },
  publicRpcUrl: { type: "string", format: "uri", description: "A public RPC node for the payer's wallet." },
  explorerUrl,
  nativeName: { type: "string" },
  nativeSymbol: { type: "string" },
  nativeDecimals: { type: "integer", minimum: 0 },
  token,
  caip19,
  minimumUnits: { ...units, description: "A deposit below it waits for more, unless it completes the price." },
  minimumDisplay: { type: "string", pattern: "^[0-9]+(\\.[0-9]+)?$", description: "`minimumUnits` as a decimal." },
  depositIssuable: { type: "boolean", description: "Whether a source inbox can be issued for it now." },
});

export const settleRail = recordSchema("A chain and token in which merchants are paid.", {
  id: { type: "string", description: "`<chain slug>:<token slug>`.", examples: ["base:usdc"] },
  namespace,
  reference: chainReference,
  chainId,
  chainName: { type: "string" },
  token,
  explorerUrl,
  status: { type: "string", enum: ["live"] },
  default: { type: "boolean", description: "True for exactly one rail." },
});

export const intentOrigins = recordSchema("The source origins of this intent, and the settle rails.", {
  origins: {
    type: "array",
    items: sourceOrigin,
    description: "Issuable ones first, starting with the payout's chain.",
  },
  settleRails: { type: "array", items: settleRail },
  sourceDepositIssuable: { type: "boolean", description: "Whether any source inbox can be issued for the intent now." },
});

const sourceInboxFields = recordSchema("A deposit address for one origin.", { address, caip10 });

export const sourceInbox = {
  ...sourceInboxFields,
  properties: { ...sourceInboxFields.properties, ...tokenAccountProperties },
};

export const recordedView = recordSchema("The result of the hint.", {
  recorded: {
    type: "boolean",
    description: "False when no inbox matched the selection, usually because its source inbox has not been issued yet.",
  },
});
