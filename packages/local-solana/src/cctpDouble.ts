import { Buffer } from "node:buffer";
import { cctpMessenger, cctpTransmitter, deriveCctpAccounts } from "@tributary/inbox/solana/cctp";
import { deriveAddress } from "@tributary/inbox/solana/derive";
import { decodeKey, encodeKey, tokenProgram } from "@tributary/inbox/solana/keys";
import type { StoredAccount } from "./control.ts";
import { findTokenAccount } from "./instructions.ts";

// Doubles of Circle's two programs with their accounts, laid out as in the published sources.

const DOMAIN_SOLANA = 5;
/** The wallet that gets Circle's fees. */
export const CCTP_FEE_RECIPIENT = encodeKey(new Uint8Array(32).fill(2));
const CUSTODY_UNITS = 10n ** 15n;
export const CCTP_BURN_LIMIT = 10n ** 13n;
const MESSAGE_BODY_MAX = 8_192n;

const DISCRIMINATORS = {
  messenger: [162, 4, 242, 52, 147, 243, 221, 96],
  transmitter: [71, 40, 180, 142, 19, 203, 35, 252],
  remote: [105, 115, 174, 34, 95, 233, 138, 252],
  minter: [122, 133, 84, 63, 57, 159, 171, 206],
  localToken: [159, 131, 58, 170, 193, 84, 128, 182],
  tokenPair: [17, 214, 45, 176, 229, 149, 197, 71],
};

/** Where the doubles are installed. */
export type CctpInstallation = {
  addProgram(address: string, elf: Uint8Array): void;
  put(address: string, account: StoredAccount & { data: Buffer }): void;
};

/** Circle's messenger and its token on another chain, as 32 bytes. */
export type CctpRemote = { readonly domain: number; readonly messenger: Uint8Array; readonly token: Uint8Array };

export type CctpDouble = {
  /** The double's compiled code: both programs have the same. */
  readonly elf: Uint8Array;
  /** The mint that crosses. */
  readonly mint: string;
  /** The keys that sign messages, as 32 bytes each, in their order. All must sign. */
  readonly attesters: readonly Uint8Array[];
  readonly remotes: readonly CctpRemote[];
};

export function installCctp(installation: CctpInstallation, { elf, mint, attesters, remotes }: CctpDouble): void {
  installation.addProgram(cctpMessenger, elf);
  installation.addProgram(cctpTransmitter, elf);
  const accounts = deriveCctpAccounts({ mint, domain: 0, sender: mint });
  const put = (address: string, owner: string, parts: readonly Uint8Array[]) =>
    installation.put(address, { owner, data: Buffer.concat(parts) });
  put(accounts.messengerState, cctpMessenger, [
    Buffer.from(DISCRIMINATORS.messenger),
    Buffer.alloc(96, 1),
    u32(1),
    Buffer.of(bumpOf([text("sender_authority")])),
    decodeKey("fee recipient", CCTP_FEE_RECIPIENT),
    Buffer.alloc(32, 2),
    u32(0),
  ]);
  put(accounts.transmitterState, cctpTransmitter, [
    Buffer.from(DISCRIMINATORS.transmitter),
    Buffer.alloc(128, 1),
    Buffer.of(0),
    u32(DOMAIN_SOLANA),
    ...[1, attesters.length, attesters.length].map(u32),
    ...attesters,
    u64(MESSAGE_BODY_MAX),
  ]);
  put(accounts.minter, cctpMessenger, [
    Buffer.from(DISCRIMINATORS.minter),
    Buffer.alloc(64, 1),
    Buffer.of(0, bumpOf([text("token_minter")])),
  ]);
  put(accounts.localToken, cctpMessenger, [
    Buffer.from(DISCRIMINATORS.localToken),
    Buffer.alloc(32, 1),
    decodeKey("mint", mint),
    u64(CCTP_BURN_LIMIT),
    Buffer.alloc(50),
  ]);
  for (const { domain, messenger, token } of remotes) {
    const { remoteMessenger } = deriveCctpAccounts({ mint, domain, sender: mint });
    put(remoteMessenger, cctpMessenger, [Buffer.from(DISCRIMINATORS.remote), u32(domain), messenger]);
    const pair = deriveAddress([text("token_pair"), text(String(domain)), token], cctpMessenger);
    const parts = [Buffer.from(DISCRIMINATORS.tokenPair), u32(domain), token];
    put(pair.address, cctpMessenger, [...parts, decodeKey("token", accounts.localToken), Buffer.of(pair.bump)]);
  }
  // The tokens that it gives out, and where its fees go.
  const { address: custody } = deriveAddress([text("custody"), decodeKey("mint", mint)], cctpMessenger);
  const feeAccount = findTokenAccount({ owner: CCTP_FEE_RECIPIENT, mint, program: tokenProgram });
  put(custody, tokenProgram, [tokenAccountData({ mint, owner: accounts.minter, units: CUSTODY_UNITS })]);
  put(feeAccount, tokenProgram, [tokenAccountData({ mint, owner: CCTP_FEE_RECIPIENT, units: 0n })]);
}

const text = (words: string) => new TextEncoder().encode(words);

function bumpOf(seeds: readonly Uint8Array[]): number {
  return deriveAddress(seeds, cctpMessenger).bump;
}

function tokenAccountData({ mint, owner, units }: { mint: string; owner: string; units: bigint }): Buffer {
  const data = Buffer.alloc(165);
  data.set(decodeKey("mint", mint), 0);
  data.set(decodeKey("owner", owner), 32);
  data.writeBigUInt64LE(units, 64);
  data.writeUInt8(1, 108);
  return data;
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function u64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return bytes;
}
