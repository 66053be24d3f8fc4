import { recordSchema } from "../jsonSchema.ts";
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
  publicRpcUrl: { type: "string", format: "uri", description: "A node that a payer's wallet may ask." },
  explorerUrl,
  nativeName: { type: "string" },
  nativeSymbol: { type: "string" },
  nativeDecimals: { type: "integer", minimum: 0 },
  token,
  caip19,
  minimumUnits: { ...units, description: "A deposit below it waits for more, unless the price is reached with it." },
  minimumDisplay: { type: "string", pattern: "^[0-9]+(\\.[0-9]+)?$", description: "The same as a decimal." },
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
  default: { type: "boolean", description: "True for exactly one of them." },
});

export const intentOrigins = recordSchema("Where this intent may be paid from, and what merchants are paid in.", {
  origins: { type: "array", items: sourceOrigin, description: "Issuable ones first, the payout's chain foremost." },
  settleRails: { type: "array", items: settleRail },
  sourceDepositIssuable: { type: "boolean", description: "Whether the intent can have any source inbox issued now." },
});

export const sourceInbox = recordSchema("A deposit address for one origin.", { address, caip10 });

export const recordedView = recordSchema("Whether the hint was of use.", {
  recorded: {
    type: "boolean",
    description: "False when nothing matched the selection: mostly because its source inbox has not been issued yet.",
  },
});
