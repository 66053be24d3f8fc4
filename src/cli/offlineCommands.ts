import { CHAIN_NAME_FORMS } from "../config/chainName.ts";
import type { Command } from "./command.ts";

// Commands that need no service. They read chains themselves, so what they run takes long to load.

const HUB_OPTIONS = {
  config: { value: "FILE", summary: "configuration file; default TRIBUTARY_CONFIG" },
  chain: { value: "CHAIN", summary: `only this chain: ${CHAIN_NAME_FORMS}` },
  rpc: { value: "URL", summary: "instead of a configuration: JSON-RPC URL of a Solana cluster" },
};

export const verify: Command = {
  name: "verify",
  summary: "check offline that an inbox pays only your wallet",
  help: "Check offline that an inbox pays only your payout wallet, less the fee",
  positionals: [{ name: "file", summary: "one or more intents as the API returned them; - reads standard input" }],
  options: {
    payout: { value: "ADDRESS", summary: "your payout wallet, from your own records and not from the API" },
    program: { value: "ADDRESS", summary: "on Solana: your inbox program, on a cluster without a published one" },
    rpc: { value: "URL", summary: "on Solana: also read the program's code and authority from this cluster" },
    inbox: { value: "ADDRESS", summary: "address that the payer saw; default the intent's inbox" },
    token: { value: "ADDRESS", summary: "expected payout token" },
    chain: {
      value: "CHAIN",
      summary: "expected payout chain: chain id or CAIP-2; for public EVM networks also slug or name",
    },
    "fee-bps-max": { value: "NUMBER", summary: "highest accepted fee, in hundredths of a percent" },
    recovery: {
      value: "ADDRESS",
      summary: "your recovery address, if it is not the payout wallet; terms without one then fail",
    },
    "routes-root": {
      value: "HASH",
      summary: "root of the accepted cross-chain routes; default those that only bridge USDC to the same inbox",
    },
    bridges: { value: "FILE", summary: "Circle's contracts on chains that this release does not know, as JSON" },
  },
  examples: [
    "tributary verify intent.json --payout 0x7099…79C8",
    "curl -s …/api/v1/intents/pi_… | tributary verify - --payout 0x7099…79C8 --chain 8453 --fee-bps-max 50",
    "tributary verify intent.json --payout 9xQe…Fin --rpc https://api.mainnet-beta.solana.com",
  ],
  run: async (input) => (await import("./chains/verify.ts")).runVerify(input),
};

export const recover: Command = {
  name: "recover",
  summary: "move money out of inboxes without server and database",
  help: "Show the balances of inboxes, and settle, bridge or rescue them, with only their terms and an RPC URL",
  positionals: [
    {
      name: "file",
      summary: "intents as the API returned them, or their inboxTerms, as JSON or JSON lines; - reads standard input",
    },
  ],
  options: {
    rpc: { value: "URLS", summary: "JSON-RPC URLs, one for each chain, separated by commas" },
    settle: { summary: "settle inboxes to their payout wallets; any key with gas money works" },
    bridge: {
      summary:
        "send USDC that is paid out on another chain there, to the intent's own inbox; any key with gas money works",
    },
    fast: { summary: "bridge in seconds for a fee, instead of waiting until the chain is final" },
    receive: {
      value: "HASHES",
      summary: "on the payout's chain: receive what these transactions bridged, and settle it; any key works",
    },
    message: { value: "HEX", summary: "receive this message of the attestation service, without asking it" },
    attestation: { value: "HEX", summary: "signature of --message" },
    rescue: { summary: "withdraw what only the recovery address may withdraw; needs its key" },
    to: {
      value: "ADDRESS",
      summary:
        "wallet that receives what is rescued; default the payout wallet, on other chains and on Solana the sender",
    },
    token: {
      value: "ADDRESSES",
      summary: "recover only these tokens, even if the search does not find them; separated by commas",
    },
    "from-block": { value: "NUMBER", summary: "first block of the search for tokens; default 0" },
    "max-fee-gwei": {
      value: "GWEI",
      summary: "highest gas price of a transaction; default the network's, which is 500 on an unknown one",
    },
    "attestation-url": { value: "URL", summary: "attestation service; default Circle's of the network" },
    bridges: { value: "FILE", summary: "Circle's contracts on chains that this release does not know, as JSON" },
    program: { value: "ADDRESS", summary: "on Solana: the inbox program of a cluster without a published one" },
    "key-file": {
      value: "FILE",
      summary: "the sender's private key, default TRIBUTARY_RECOVER_KEY; on Solana as solana-keygen writes it",
    },
  },
  examples: [
    "tributary recover intent.json --rpc https://mainnet.base.org",
    "tributary recover intents.jsonl --rpc https://mainnet.base.org --settle --key-file gas.key",
    "tributary recover intent.json --rpc https://arb1.arbitrum.io/rpc --bridge --key-file gas.key",
    "tributary recover intent.json --rpc https://mainnet.base.org --receive 0x5e1d…c0de --key-file gas.key",
    "tributary recover intent.json --rpc https://mainnet.optimism.io --rescue --key-file recovery.key",
    "tributary recover intent.json --rpc https://api.mainnet-beta.solana.com --settle --key-file fees.json",
  ],
  run: async (input) => (await import("./recover/recover.ts")).runRecover(input),
};

export const hubStatus: Command = {
  name: "hub status",
  summary: "compare the inbox hub of each chain, and the program of Solana, with this release",
  help: "Show which chains have the inbox hub or the inbox program of this release; change nothing",
  positionals: [],
  options: {
    ...HUB_OPTIONS,
    program: { value: "ADDRESS", summary: "with --rpc: the inbox program of a cluster without a published one" },
  },
  examples: [
    "tributary hub status --config config/testnets.json",
    "tributary hub status --rpc https://api.mainnet-beta.solana.com",
  ],
  run: async (input) => (await import("./chains/hub.ts")).showHubs(input),
};

export const hubDeploy: Command = {
  name: "hub deploy",
  summary: "deploy the inbox hub on the configured chains, or the program of Solana",
  help: "Deploy the inbox hub on configured chains without one, and on Solana the inbox program, permanently",
  positionals: [],
  options: {
    ...HUB_OPTIONS,
    "key-file": { value: "FILE", summary: "for Solana: key file of the payer, as solana-keygen writes it" },
    "program-key": {
      value: "FILE",
      summary: "for Solana: key file of the program's address; it has no power afterwards",
    },
  },
  examples: [
    "tributary hub deploy --config config/testnets.json --chain base-sepolia",
    "tributary hub deploy --rpc https://api.devnet.solana.com --key-file payer.json --program-key program.json",
  ],
  run: async (input) => (await import("./chains/hub.ts")).deployHubs(input),
};
