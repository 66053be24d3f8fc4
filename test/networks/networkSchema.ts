// What a network of the catalogue looks like, as JSON Schema.

const text = { type: "string", minLength: 1 } as const;
const url = { type: "string", pattern: "^https://[^?#]+[^/?#]$" } as const;
const decimalText = { type: "string", pattern: "^\\d+(\\.\\d+)?$" } as const;
const positive = { type: "integer", minimum: 1 } as const;
const object = (properties: Readonly<Record<string, object>>, optional: readonly string[] = []) => ({
  type: "object",
  additionalProperties: false,
  properties,
  required: Object.keys(properties).filter((key) => !optional.includes(key)),
});

const token = object({ symbol: text, address: text, decimals: { type: "integer", minimum: 0, maximum: 18 } });
const cctp = object(
  {
    domain: { type: "integer", minimum: 0 },
    messenger: text,
    transmitter: text,
    fastBlocks: positive,
    standardBlocks: positive,
    fastSeconds: positive,
    standardSeconds: { type: "array", items: positive, minItems: 2, maxItems: 2 },
    fastFeeBps: { type: "number", exclusiveMinimum: 0, maximum: 30 },
  },
  ["fastSeconds", "standardSeconds", "fastFeeBps"],
);
const tier = object(
  { upToPriceUnits: decimalText, seconds: positive, confirmations: positive, tag: { enum: ["safe", "finalized"] } },
  ["upToPriceUnits", "seconds", "confirmations", "tag"],
);

export const networkSchema = object(
  {
    caip2: { type: "string", pattern: "^(eip155:\\d+|solana:[1-9A-HJ-NP-Za-km-z]{32})$" },
    kind: { enum: ["evm", "solana"] },
    chainId: positive,
    slug: { type: "string", pattern: "^[a-z0-9]+(-[a-z0-9]+)*$", maxLength: 32 },
    name: text,
    environment: { enum: ["live", "test"] },
    native: object({ name: text, symbol: text, decimals: { enum: [9, 18] } }),
    explorerUrl: url,
    rpcUrls: { type: "array", items: url, minItems: 1, uniqueItems: true },
    tokens: { type: "array", items: token },
    cctp,
    blockMs: positive,
    safeMs: positive,
    finalizedMs: positive,
    feeUsdMax: decimalText,
    pollMs: { type: "integer", minimum: 100, maximum: 60_000 },
    finality: { type: "array", items: tier, minItems: 1, maxItems: 3 },
    hasForeignBloom: { const: true },
    maxFeePerGasGwei: decimalText,
    transactionGasMax: decimalText,
    usual: object({ feePerGasGwei: decimalText, nativeUsd: decimalText }),
    fork: object({ name: text, at: { type: ["string", "null"] } }),
    sources: { type: "object", additionalProperties: text },
  },
  [
    "cctp",
    "blockMs",
    "safeMs",
    "finalizedMs",
    "feeUsdMax",
    "hasForeignBloom",
    "maxFeePerGasGwei",
    "transactionGasMax",
    "usual",
    "fork",
  ],
);
