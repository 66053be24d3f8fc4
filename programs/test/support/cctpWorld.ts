import { cctpMessenger, cctpTransmitter, deriveCctpAccounts } from "@tributary/inbox/solana/cctp";
import { deriveAddress } from "@tributary/inbox/solana/derive";
import { encodeKey, tokenProgram } from "@tributary/inbox/solana/keys";
import { ATTESTERS } from "./attestations.ts";
import { readElf } from "./elf.ts";
import { associated, keyBytes, tokenAccountData, u32, u64 } from "./tokens.ts";
import type { World } from "./world.ts";

// The doubles of Circle's two programs with their accounts, laid out as in the published sources.

export const DOMAIN_BASE = 6;
const DOMAIN_SOLANA = 5;
/** Circle's messenger and its token on the other chain, as accounts of a message. */
export const REMOTE_MESSENGER = Buffer.concat([Buffer.alloc(12), Buffer.alloc(20, 0x28)]);
export const REMOTE_TOKEN = Buffer.concat([Buffer.alloc(12), Buffer.alloc(20, 0x83)]);
/** The wallet that gets Circle's fees. */
export const CCTP_FEE_RECIPIENT = encodeKey(new Uint8Array(32).fill(2));
const CUSTODY_UNITS = 10n ** 15n;
export const BURN_LIMIT = 10n ** 13n;

/** Where the tests change the state of the doubles. */
export const MESSENGER_FEE_MIN = 173;
export const MINTER_PAUSED = 72;
export const TRANSMITTER_PAUSED = 136;
export const LOCAL_LIMIT = 72;
const REMOTE_DOMAIN = 8;

const DISCRIMINATORS = {
  messenger: [162, 4, 242, 52, 147, 243, 221, 96],
  transmitter: [71, 40, 180, 142, 19, 203, 35, 252],
  remote: [105, 115, 174, 34, 95, 233, 138, 252],
  minter: [122, 133, 84, 63, 57, 159, 171, 206],
  localToken: [159, 131, 58, 170, 193, 84, 128, 182],
  tokenPair: [17, 214, 45, 176, 229, 149, 197, 71],
};

const text = (words: string) => new TextEncoder().encode(words);

/** Where the doubles are installed: a world of these tests, or a local chain. */
export type Installation = {
  addProgram(address: string, elf: Uint8Array): void;
  put(address: string, account: { owner: string; data: Buffer }): void;
};

export function installCctp(
  world: Installation,
  mint: string,
  attesters = ATTESTERS.map(({ account }) => account),
): void {
  const elf = readElf("cctp");
  world.addProgram(cctpMessenger, elf);
  world.addProgram(cctpTransmitter, elf);
  const accounts = deriveCctpAccounts({ mint, domain: DOMAIN_BASE, sender: mint });
  const { bump } = deriveAddress([text("sender_authority")], cctpMessenger);
  const { bump: minterBump } = deriveAddress([text("token_minter")], cctpMessenger);
  const put = (address: string, owner: string, parts: readonly Uint8Array[]) =>
    world.put(address, { owner, data: Buffer.concat(parts) });
  put(accounts.messengerState, cctpMessenger, [
    Buffer.from(DISCRIMINATORS.messenger),
    Buffer.alloc(96, 1),
    u32(1),
    Buffer.of(bump),
    keyBytes(CCTP_FEE_RECIPIENT),
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
    u64(8_192n),
  ]);
  put(accounts.remoteMessenger, cctpMessenger, [
    Buffer.from(DISCRIMINATORS.remote),
    u32(DOMAIN_BASE),
    REMOTE_MESSENGER,
  ]);
  put(accounts.minter, cctpMessenger, [
    Buffer.from(DISCRIMINATORS.minter),
    Buffer.alloc(64, 1),
    Buffer.of(0, minterBump),
  ]);
  put(accounts.localToken, cctpMessenger, [
    Buffer.from(DISCRIMINATORS.localToken),
    Buffer.alloc(32, 1),
    keyBytes(mint),
    u64(BURN_LIMIT),
    Buffer.alloc(50),
  ]);
  installReceiving(world, mint);
}

/** What the issuer has for receipts: the pair of tokens, the tokens that it gives out, and where its fees go. */
function installReceiving(world: Installation, mint: string): void {
  const { localToken, minter } = deriveCctpAccounts({ mint, domain: DOMAIN_BASE, sender: mint });
  const pair = deriveAddress([text("token_pair"), text(String(DOMAIN_BASE)), REMOTE_TOKEN], cctpMessenger);
  const parts = [Buffer.from(DISCRIMINATORS.tokenPair), u32(DOMAIN_BASE), REMOTE_TOKEN, keyBytes(localToken)];
  world.put(pair.address, { owner: cctpMessenger, data: Buffer.concat([...parts, Buffer.of(pair.bump)]) });
  const { address: custody } = deriveAddress([text("custody"), keyBytes(mint)], cctpMessenger);
  for (const [address, owner, units] of [
    [custody, minter, CUSTODY_UNITS],
    [associated(CCTP_FEE_RECIPIENT, mint), CCTP_FEE_RECIPIENT, 0n],
  ] as const)
    world.put(address, { owner: tokenProgram, data: tokenAccountData({ mint, owner, units }) });
}

/** Adds a second destination. */
export function installRemote(world: World, mint: string, domain: number): string {
  const sample = deriveCctpAccounts({ mint, domain: DOMAIN_BASE, sender: mint }).remoteMessenger;
  const address = deriveCctpAccounts({ mint, domain, sender: mint }).remoteMessenger;
  const data = Buffer.from(world.account(sample)?.data ?? []);
  data.writeUInt32LE(domain, REMOTE_DOMAIN);
  world.put(address, { owner: cctpMessenger, data });
  return address;
}

/** What a burn wrote into its event account. */
export function readBurnMessage(world: World, event: string) {
  const data = world.account(event)?.data;
  if (data === undefined) throw new Error(`no event at ${event}`);
  const message = data.subarray(52);
  const body = message.subarray(148);
  return {
    rentPayer: encodeKey(new Uint8Array(data.subarray(8, 40))),
    version: message.readUInt32BE(0),
    source: message.readUInt32BE(4),
    domain: message.readUInt32BE(8),
    sender: encodeKey(new Uint8Array(message.subarray(44, 76))),
    caller: message.toString("hex", 108, 140),
    threshold: message.readUInt32BE(140),
    burnToken: encodeKey(new Uint8Array(body.subarray(4, 36))),
    recipient: `0x${body.toString("hex", 36, 68)}`,
    amount: body.readBigUInt64BE(92),
    depositor: encodeKey(new Uint8Array(body.subarray(100, 132))),
    feeMax: body.readBigUInt64BE(156),
  };
}
