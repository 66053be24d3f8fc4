import { cctpMessenger, deriveCctpAccounts } from "@tributary/inbox/solana/cctp";
import { encodeKey } from "@tributary/inbox/solana/keys";
import { CCTP_BURN_LIMIT, CCTP_FEE_RECIPIENT, installCctp } from "../../../packages/local-solana/src/cctpDouble.ts";
import { ATTESTERS } from "./attestations.ts";
import { readElf } from "./elf.ts";
import type { World } from "./world.ts";

// The doubles of Circle's two programs in a world of these tests, and what they write.

export const DOMAIN_BASE = 6;
/** Circle's messenger and its token on the other chain, as accounts of a message. */
export const REMOTE_MESSENGER = Buffer.concat([Buffer.alloc(12), Buffer.alloc(20, 0x28)]);
export const REMOTE_TOKEN = Buffer.concat([Buffer.alloc(12), Buffer.alloc(20, 0x83)]);
export { CCTP_FEE_RECIPIENT };
export const BURN_LIMIT = CCTP_BURN_LIMIT;

/** Where the tests change the state of the doubles. */
export const MESSENGER_FEE_MIN = 173;
export const MINTER_PAUSED = 72;
export const TRANSMITTER_PAUSED = 136;
export const LOCAL_LIMIT = 72;
const REMOTE_DOMAIN = 8;

/** Puts the doubles into a world of these tests. */
export function installDoubles(world: World, mint: string, attesters = ATTESTERS.map(({ account }) => account)): void {
  installCctp(world, {
    elf: readElf("cctp"),
    mint,
    attesters,
    remotes: [{ domain: DOMAIN_BASE, messenger: REMOTE_MESSENGER, token: REMOTE_TOKEN }],
  });
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
