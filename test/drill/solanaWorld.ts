import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { cctpMessenger } from "@tributary/inbox/solana/cctp";
import { decodeKey, encodeKey, encodeSignature } from "@tributary/inbox/solana/keys";
import type { SolanaInbox } from "@tributary/inbox/solana/address";
import { solanaTermsToWire } from "@tributary/inbox/solana/wire";
import type { Hex } from "@tributary/inbox/terms";
import { toHex, concat, keccak256, numberToHex, pad } from "viem";
import { sign } from "viem/accounts";
import { DEV_ACCOUNTS } from "../../src/dev/devAccounts.ts";
import { installRemote } from "../../programs/test/support/cctpWorld.ts";
import { startRpcServer } from "../../programs/test/support/rpcServer.ts";
import { Scene } from "../../programs/test/support/scene.ts";
import type { World } from "../../programs/test/support/world.ts";

// Solana in the drill: the inbox program and the token programs in the real runtime; Circle's two programs are doubles,
// because they are not available as binaries. The attestation service signs their messages as it signs those of the EVM
// chains.

export type SolanaWorld = { scene: Scene; url: string; close(): Promise<void> };

/** Where Circle's account of another chain has the address of the messenger there. */
const REMOTE_ADDRESS = 24;

export async function openSolanaWorld(home: { domain: number; messenger: Hex }): Promise<SolanaWorld> {
  const scene = new Scene();
  const remote = installRemote(scene.world, scene.mint, home.domain);
  scene.world.edit(remote, (data) => data.write(home.messenger.slice(2), REMOTE_ADDRESS, "hex"));
  const server = await startRpcServer(scene.world, "1".repeat(44));
  return { scene, url: server.url, close: () => server.close() };
}

/** What the create of an intent with this inbox returned, as far as recovery needs it. */
export function toResponse(inbox: SolanaInbox, intentId: string): object {
  return { intentId, inboxTerms: { solana: { ...solanaTermsToWire(inbox.terms, inbox), address: inbox.address } } };
}

const HEADER_BYTES = 52;
const SIGNATURES = 1;
const SIGNATURE_BYTES = 64;
const NONCE_BYTE = 12;
const EXECUTED_BYTE = 144;
const STANDARD = 2_000;

/** Answers for burns on Solana, and passes everything else on to the service of the EVM chains. */
export async function openSolanaAttestation({ world }: Scene, upstream: string) {
  const server = createServer((request, response) => {
    void (async () => {
      const path = request.url ?? "";
      response.setHeader("content-type", "application/json");
      response.setHeader("access-control-allow-origin", "*");
      const [, signature] = /^\/v2\/messages\/5\?transactionHash=(\w+)$/.exec(path) ?? [];
      if (signature !== undefined)
        return void response.end(JSON.stringify({ messages: await attest(world, signature) }));
      const answered = await fetch(`${upstream}${path}`, { method: request.method ?? "GET" });
      response.writeHead(answered.status).end(await answered.text());
    })();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
}

async function attest(world: World, signature: string): Promise<object[]> {
  const message = findMessage(world, signature);
  if (message === undefined) return [];
  const nonce = keccak256(toHex(signature));
  const signed = fill(fill(message, NONCE_BYTE, nonce), EXECUTED_BYTE, numberToHex(STANDARD, { size: 4 }));
  const attestation = await sign({
    hash: keccak256(signed),
    privateKey: DEV_ACCOUNTS.attester.privateKey,
    to: "hex",
  });
  return [{ message: signed, attestation, eventNonce: nonce, cctpVersion: 2, status: "complete", delayReason: null }];
}

/** The event account of a burn is the second signer of its transaction. */
function findMessage(world: World, signature: string): Hex | undefined {
  const found = world.landed?.find(
    ({ transaction }) => encodeSignature(transaction.slice(SIGNATURES, SIGNATURES + SIGNATURE_BYTES)) === signature,
  );
  if (found === undefined) return undefined;
  const start = SIGNATURES + SIGNATURE_BYTES * (found.transaction[0] ?? 0);
  const keys = found.transaction.slice(start + 4, start + 4 + 64);
  const event = world.account(encodeKey(keys.slice(32, 64)));
  return event === undefined ? undefined : toHex(new Uint8Array(event.data.subarray(HEADER_BYTES)));
}

function fill(message: Hex, start: number, bytes: Hex): Hex {
  const digits = message.slice(2);
  return `0x${digits.slice(0, start * 2)}${bytes.slice(2)}${digits.slice(start * 2 + bytes.length - 2)}`;
}

export const solanaMessenger: Hex = toHex(decodeKey("messenger", cctpMessenger));

export function toKeyHex(key: string): Hex {
  return toHex(decodeKey("key", key));
}

export function toRecipient(address: Hex): Hex {
  return pad(concat([address]));
}
