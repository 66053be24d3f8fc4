import { deriveAddress } from "@tributary/inbox/solana/derive";
import { decodeKey, systemProgram, token2022Program, tokenProgram } from "@tributary/inbox/solana/keys";
import { solanaProgramCode } from "@tributary/inbox/solana/programCode";
import { Account } from "litesvm/dist/internal.js";
import { findTokenAccount } from "./instructions.ts";
import { deriveKeypair } from "./keypairs.ts";
import type { Keypair } from "./keypairs.ts";
import type { Ledger } from "./ledger/ledger.ts";

// What every local chain has from its first block: the inbox program, the mints, and accounts with lamports.

const FUNDED_ROLES = [
  /** Sends deposits; holds lamports and every token. */
  "payer",
  /** Mints and freezes every token. */
  "issuer",
  /** Pays the fees of settlements. */
  "operator",
  /** Gives the lamports of airdrops. */
  "faucet",
  /** Has lamports and no role; tests use it as an outsider. */
  "stranger",
] as const;
const EMPTY_ROLES = ["feeRecipient", "payoutFirst", "payoutSecond", "recoveryFirst", "recoverySecond"] as const;

export type SolanaRole = (typeof FUNDED_ROLES)[number] | (typeof EMPTY_ROLES)[number];

/** The accounts of the local chain. Their keys are public. */
export const SOLANA_ACCOUNTS = Object.fromEntries(
  [...FUNDED_ROLES, ...EMPTY_ROLES].map((role) => [role, deriveKeypair(role)]),
) as Readonly<Record<SolanaRole, Keypair>>;

export type LocalMint = {
  readonly symbol: string;
  readonly name: string;
  /** ISO 4217 code of the currency of one token. */
  readonly currency: string;
  readonly decimals: number;
  readonly address: string;
  readonly program: string;
};

const TOKENS = [
  { symbol: "USDC", name: "USD Coin", currency: "USD", program: tokenProgram },
  { symbol: "USDT", name: "Tether USD", currency: "USD", program: tokenProgram },
  { symbol: "EURC", name: "Euro Coin", currency: "EUR", program: tokenProgram },
  { symbol: "DUSD", name: "Dev Dollar", currency: "USD", program: token2022Program },
] as const;

const DECIMALS = 6;

/** DUSD belongs to the Token-2022 program, the others to the older one. */
export const LOCAL_MINTS = Object.fromEntries(
  TOKENS.map((token) => {
    const { address } = deriveKeypair(`mint ${token.symbol}`);
    return [token.symbol, { ...token, decimals: DECIMALS, address }];
  }),
) as Readonly<Record<(typeof TOKENS)[number]["symbol"], LocalMint>>;

/** The inbox program of this release on the local chain. */
export const LOCAL_INBOX_PROGRAM = deriveKeypair("inbox program").address;

const LOADER = "BPFLoaderUpgradeab1e11111111111111111111111";
const FUNDS = 1_000_000_000_000_000n;
const PAYER_UNITS = 10_000_000n * 10n ** BigInt(DECIMALS);
const PROGRAM_STATE = 2;
const PROGRAM_DATA_STATE = 3;
const PROGRAM_DATA_HEADER = 45;

export function installFixtures(ledger: Ledger): void {
  const rent = (bytes: number) => ledger.svm.minimumBalanceForRentExemption(BigInt(bytes));
  const write = (key: string, { owner, data, isExecutable = false }: Stored) => {
    const lamports = rent(data.length);
    ledger.write(key, new Account(lamports, new Uint8Array(data), decodeKey("owner", owner), isExecutable, 0n));
  };
  for (const role of FUNDED_ROLES) {
    const funded = new Account(FUNDS, new Uint8Array(0), decodeKey("owner", systemProgram), false, 0n);
    ledger.write(SOLANA_ACCOUNTS[role].address, funded);
  }
  for (const { address, program } of Object.values(LOCAL_MINTS)) {
    write(address, { owner: program, data: encodeMint() });
    for (const [role, units] of [
      ["payer", PAYER_UNITS],
      // Fees go to token accounts that exist.
      ["feeRecipient", 0n],
    ] as const) {
      const holder = { owner: SOLANA_ACCOUNTS[role].address, mint: address, program };
      write(findTokenAccount(holder), { owner: program, data: encodeTokenAccount({ ...holder, units }) });
    }
  }
  installInboxProgram(write);
}

type Stored = { owner: string; data: Buffer; isExecutable?: boolean };

/** As `hub deploy` leaves it: no key can change the code. */
function installInboxProgram(write: (key: string, stored: Stored) => void): void {
  const { address: codeAccount } = deriveAddress([decodeKey("program", LOCAL_INBOX_PROGRAM)], LOADER);
  const header = Buffer.alloc(PROGRAM_DATA_HEADER);
  header.writeUInt32LE(PROGRAM_DATA_STATE);
  write(codeAccount, { owner: LOADER, data: Buffer.concat([header, Buffer.from(solanaProgramCode, "base64")]) });
  const program = Buffer.alloc(36);
  program.writeUInt32LE(PROGRAM_STATE);
  program.set(decodeKey("code", codeAccount), 4);
  write(LOCAL_INBOX_PROGRAM, { owner: LOADER, data: program, isExecutable: true });
}

/** The issuer mints and freezes. */
function encodeMint(): Buffer {
  const data = Buffer.alloc(82);
  const issuer = decodeKey("issuer", SOLANA_ACCOUNTS.issuer.address);
  data.writeUInt32LE(1, 0);
  data.set(issuer, 4);
  data.writeBigUInt64LE(PAYER_UNITS, 36);
  data.writeUInt8(DECIMALS, 44);
  data.writeUInt8(1, 45);
  data.writeUInt32LE(1, 46);
  data.set(issuer, 50);
  return data;
}

function encodeTokenAccount({ owner, mint, units }: { owner: string; mint: string; units: bigint }): Buffer {
  const data = Buffer.alloc(165);
  data.set(decodeKey("mint", mint), 0);
  data.set(decodeKey("owner", owner), 32);
  data.writeBigUInt64LE(units, 64);
  data.writeUInt8(1, 108);
  return data;
}
