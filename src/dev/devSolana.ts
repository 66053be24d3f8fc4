import { readFileSync } from "node:fs";
import { toMessageAccount } from "@tributary/inbox/burnMessage";
import { hexToBytes, type Hex } from "viem";
import type { SolanaChainConfig } from "../config/config.ts";
import { solanaCctp } from "../config/solana/cctp.ts";
import { installBridge } from "../../packages/local-solana/src/installBridge.ts";
import type { BridgeSide, ForeignSide } from "./chains/bridge.ts";
import { DEV_ACCOUNTS } from "./devAccounts.ts";
import { associatedTokenProgram, systemProgram, token2022Program, tokenProgram } from "@tributary/inbox/solana/keys";
import { nameOfRole } from "./explorer/explorerPages.ts";
import { caip2 } from "../kernel/caip.ts";
import type { Clock } from "../kernel/clock.ts";
import { LOCAL_INBOX_PROGRAM, LOCAL_MINTS, SOLANA_ACCOUNTS } from "../../packages/local-solana/src/fixtures.ts";
import { encodeBase58 } from "@tributary/inbox/solana/base58";
import type { ManifestChain } from "./manifest.ts";
import type { Keypair } from "../../packages/local-solana/src/keypairs.ts";
import { createPayerWallet, type PayerWallet } from "../../packages/local-solana/src/payerWallet.ts";
import { startLocalSolana, type LocalSolana } from "../../packages/local-solana/src/startLocalSolana.ts";

/** A Solana cluster of the dev world. */
export type DevSolana = {
  /** How the service watches it and settles on it. */
  config: (baseUrl: string) => SolanaChainConfig;
  /** What the manifest says about it, with the token program of each mint. */
  chain: Omit<ManifestChain, "tokens"> & { tokens: (ManifestChain["tokens"][number] & { tokenProgram: string })[] };
  /** The inbox program. */
  program: string;
  /** The known addresses, with their names for people. */
  names: ReadonlyMap<string, string>;
  /** Sends deposits; holds lamports and every token. The private key is the base58 of 64 bytes. */
  payer: { address: string; privateKey: string };
  payoutWallet: string;
  /** Recovery keys of the demo merchants. */
  recoveryKeys: readonly string[];
  /** Joins the bridge of the other chains, which carries USDC. */
  joinBridge(sides: readonly BridgeSide[]): ForeignSide;
  /** The payer's account for the demo shop, and the wallet that receives its payments. */
  wallet: PayerWallet;
  shopWallet: string;
  stop(): Promise<void>;
};

/** No EVM chain has this id. */
const CHAIN_ID = 104;
const NAME = "Dev Solana";
const SLUG = "dev-solana";
/** While nobody looks at a page. */
const POLL_MS = 2_000;
const CCTP_PROGRAM = new URL("../../programs/build/cctp.so", import.meta.url);
const COMPUTE_BUDGET_PROGRAM = "ComputeBudget111111111111111111111111111111";
const BLOCKS_BEFORE = 200;
/** As the EVM chains of the dev world, it is final after two blocks more. */
const FINALIZED_AFTER = 3;
const COMPUTE_UNIT_PRICE_MAX = 1_000_000n;
/** Unused token accounts are closed soon enough to see it. */
const PRIMING = { openTotal: 50, openPerAccount: 20, hourlyPerAccount: 200, keepMs: 10 * 60_000 };

/** Starts the cluster in this process: a transaction takes a millisecond, and an idle second less than two. */
export async function startDevSolana(clock: Clock, stateDirectory: string | undefined): Promise<DevSolana> {
  const storage = stateDirectory === undefined ? {} : { stateDirectory };
  const solana = await startLocalSolana({ clock, name: "dev", finalizedAfter: FINALIZED_AFTER, ...storage });
  // The service reads some blocks before the first one that it watches, and their parents.
  solana.control.nextSlot(BLOCKS_BEFORE);
  const { payer, payoutFirst, payoutSecond } = SOLANA_ACCOUNTS;
  return {
    config: (baseUrl) => devSolanaChain(solana, baseUrl),
    chain: describeCluster(solana),
    program: LOCAL_INBOX_PROGRAM,
    names: nameAccounts(),
    payer: { address: payer.address, privateKey: encodeKeyPair(payer) },
    payoutWallet: payoutFirst.address,
    recoveryKeys: [SOLANA_ACCOUNTS.recoveryFirst.address, SOLANA_ACCOUNTS.recoverySecond.address],
    joinBridge: (sides) => joinBridge(solana, sides),
    wallet: createPayerWallet(solana),
    shopWallet: payoutSecond.address,
    stop: () => solana.stop(),
  };
}

/** Doubles of Circle's programs, whose messages the local bridge's service signs. */
function joinBridge(solana: LocalSolana, sides: readonly BridgeSide[]): ForeignSide {
  const word = (address: string) => toMessageAccount(address) as Hex;
  const mint = LOCAL_MINTS.USDC.address;
  installBridge(solana, {
    elf: new Uint8Array(readFileSync(CCTP_PROGRAM)),
    mint,
    attesters: [hexToBytes(word(DEV_ACCOUNTS.attester.address))],
    remotes: sides.map(({ token, bridge: { domain, messenger } }) => {
      return { domain, messenger: hexToBytes(word(messenger)), token: hexToBytes(word(token)) };
    }),
  });
  return { domain: solanaCctp.domain, messenger: word(solanaCctp.messenger), token: word(mint) };
}

function nameAccounts(): Map<string, string> {
  const accounts = Object.entries(SOLANA_ACCOUNTS).map(([role, { address }]): [string, string] => [
    address,
    nameOfRole(role),
  ]);
  const mints = Object.values(LOCAL_MINTS).map(({ symbol, address }): [string, string] => [address, `${symbol} mint`]);
  const programs: [string, string][] = [
    [LOCAL_INBOX_PROGRAM, "inbox program"],
    [tokenProgram, "token program"],
    [token2022Program, "token-2022 program"],
    [associatedTokenProgram, "token account program"],
    [systemProgram, "system program"],
    [COMPUTE_BUDGET_PROGRAM, "compute budget program"],
    [solanaCctp.messenger, "bridge's messenger"],
    [solanaCctp.transmitter, "bridge's transmitter"],
  ];
  return new Map([...accounts, ...mints, ...programs]);
}

function describeCluster({ reference, url }: LocalSolana): DevSolana["chain"] {
  const tokens = Object.values(LOCAL_MINTS).map(({ symbol, address, decimals, program }) => {
    return { symbol, address, decimals, tokenProgram: program };
  });
  return { caip2: caip2("solana", reference), chainId: CHAIN_ID, name: NAME, slug: SLUG, rpcUrl: url, tokens };
}

/** As wallets export a key: the secret and the public key. */
function encodeKeyPair({ seed, publicKey }: Keypair): string {
  return encodeBase58(Buffer.concat([seed, publicKey]));
}

function devSolanaChain({ reference, url, wsUrl }: LocalSolana, baseUrl: string): SolanaChainConfig {
  const { operator, feeRecipient } = SOLANA_ACCOUNTS;
  return {
    caip2: caip2("solana", reference),
    chainId: CHAIN_ID,
    name: NAME,
    slug: SLUG,
    rpcUrls: [url],
    wsUrls: [wsUrl],
    publicRpcUrl: url,
    explorerUrl: `${baseUrl}/dev/explorer/${CHAIN_ID}`,
    native: { name: "Solana", symbol: "SOL", decimals: 9 },
    estimates: { blockMs: 400, finalizedMs: 1_600, feeUsdMax: "0" },
    pollMs: POLL_MS,
    finality: [{ upToPriceUnits: undefined, finality: { tag: "finalized" } }],
    settleAfterMs: 0,
    settleBatchMax: 8,
    tokens: Object.values(LOCAL_MINTS).map(({ symbol, address, decimals, program }) => ({
      symbol,
      slug: symbol.toLowerCase(),
      address,
      tokenProgram: program,
      decimals,
      minimumUnits: 10n ** BigInt(decimals - 2),
      isOrigin: true,
      isRail: true,
      ...(symbol === LOCAL_MINTS.USDC.symbol && { bridge: "cctp-v2" as const }),
    })),
    cctp: solanaCctp,
    defaultToken: "USDC",
    program: LOCAL_INBOX_PROGRAM,
    feePayer: operator.address,
    feePayerKey: encodeKeyPair(operator),
    feeRecipient: feeRecipient.address,
    computeUnitPriceMax: COMPUTE_UNIT_PRICE_MAX,
    priming: PRIMING,
  };
}
