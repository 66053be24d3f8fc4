import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import type { SolanaInbox } from "@tributary/inbox/solana/address";
import { cctpMessenger, cctpTransmitter, deriveCctpAccounts } from "@tributary/inbox/solana/cctp";
import { buildReceiveMessage, buildReclaimEvent, deriveUsedNonce } from "@tributary/inbox/solana/cctpInstructions";
import type { AttestedCctpMessage } from "@tributary/inbox/solana/cctpInstructions";
import { buildBridge, buildSettle } from "@tributary/inbox/solana/instructions";
import type { SolanaInstruction } from "@tributary/inbox/solana/instructions";
import { attest, ATTESTERS, encodeIncomingBurn, execute, STRANGE_ATTESTER, toHighS } from "./support/attestations.ts";
import type { Executed, IncomingBurn } from "./support/attestations.ts";
import {
  CCTP_FEE_RECIPIENT,
  DOMAIN_BASE,
  MINTER_PAUSED,
  REMOTE_MESSENGER,
  REMOTE_TOKEN,
  TRANSMITTER_PAUSED,
} from "./support/cctpWorld.ts";
import { withAccount, withData } from "./support/refusals.ts";
import { evmInbox, Scene, START } from "./support/scene.ts";
import { associated, createAssociated, createAuxiliary, keyBytes, sendLamports, setFrozen } from "./support/tokens.ts";
import { createKeypair } from "./support/world.ts";
import type { Keypair } from "./support/world.ts";

// The doubles of Circle's programs against their published sources: formats, error numbers, and what they refuse (docs/circle.md).

const scene = new Scene();
const { world, operator, stranger, mint } = scene;
const states = deriveCctpAccounts({ mint, domain: DOMAIN_BASE, sender: mint });
const EVENT_BYTES = 428;
const FIVE_DAYS = 432_000;
const feeAccount = associated(CCTP_FEE_RECIPIENT, mint);
let nonces = 100;

function refuse(name: string, by: Keypair, [made, code]: readonly [SolanaInstruction, number]): void {
  const outcome = world.send([by], [made]);
  assert.equal(outcome.ok, false, `${name}: it succeeded`);
  assert.equal(outcome.code, code, `${name}: ${outcome.reason}`);
}

function bridge(units = 5_000_000n): { inbox: SolanaInbox; event: string } {
  const inbox = scene.paidHop(units);
  const event = createKeypair();
  const cctp = deriveCctpAccounts({ mint, domain: DOMAIN_BASE, sender: inbox.address });
  world.must(
    [operator, event],
    [buildBridge(inbox, { cctp, payer: operator.address, event: event.address, route: 0 })],
  );
  return { inbox, event: event.address };
}

const messageOf = (event: string) => Buffer.from(world.account(event)?.data.subarray(52) ?? []);

test("a burn leaves an event account of 428 bytes, and an event with the issuer's fields", () => {
  const inbox = scene.paidHop(5_000_000n);
  const event = createKeypair();
  const cctp = deriveCctpAccounts({ mint, domain: DOMAIN_BASE, sender: inbox.address });
  world.landed = [];
  world.must(
    [operator, event],
    [buildBridge(inbox, { cctp, payer: operator.address, event: event.address, route: 0 })],
  );
  const emitted = world.landed[0]?.inner.map((each) => Buffer.from(each.data())) ?? [];
  world.landed = undefined;
  const account = world.account(event.address);
  assert.deepEqual(
    [account?.owner, account?.data.length, account?.lamports],
    [cctpTransmitter, EVENT_BYTES, world.rent(EVENT_BYTES)],
  );
  assert.equal(account?.data.readBigInt64LE(40), BigInt(START));
  assert.equal(account.data.readUInt32LE(48), 376);
  const found = emitted.find((data) => data.readBigUInt64LE(0) === 0x1d9acb512ea545e4n);
  const u = (value: bigint, bytes: number) => Buffer.from(value.toString(16).padStart(2 * bytes, "0"), "hex").reverse();
  const expected = Buffer.concat([
    Buffer.from([144, 252, 145, 146, 6, 74, 167, 235]),
    keyBytes(mint),
    u(5_000_000n, 8),
    keyBytes(inbox.address),
    Buffer.from(evmInbox("ab").slice(2), "hex"),
    u(6n, 4),
    REMOTE_MESSENGER,
    Buffer.alloc(32),
    u(15_000n, 8),
    u(1_000n, 4),
    u(0n, 4),
  ]);
  assert.equal(found?.subarray(8).toString("hex"), expected.toString("hex"));
});

test("an event account that holds lamports already only gets what is missing", () => {
  const inbox = scene.paidHop(5_000_000n);
  const event = createKeypair();
  world.must([stranger], [sendLamports(stranger, event.address, 1_000_000n)]);
  const cctp = deriveCctpAccounts({ mint, domain: DOMAIN_BASE, sender: inbox.address });
  const before = world.lamports(stranger.address);
  world.must(
    [stranger, event],
    [buildBridge(inbox, { cctp, payer: stranger.address, event: event.address, route: 0 })],
  );
  assert.equal(world.lamports(event.address), world.rent(EVENT_BYTES));
  assert.equal(before - world.lamports(stranger.address), world.rent(EVENT_BYTES) - 1_000_000n + 10_000n);
});

test("the rent of an event returns to its payer after five days, against the signed message", async () => {
  const { event } = bridge();
  const [other, cheaper] = [bridge(6_000_000n), bridge()];
  const signed = await attest(execute(messageOf(event), { fee: 500n }));
  const reclaim = (proof: AttestedCctpMessage, payer = operator.address) => buildReclaimEvent(proof, { payer, event });
  refuse("at once", operator, [reclaim(signed), 6033]);
  world.setTime(START + FIVE_DAYS - 1);
  refuse("a second early", operator, [reclaim(signed), 6033]);
  world.setTime(START + FIVE_DAYS);
  refuse("by a stranger", stranger, [reclaim(signed, stranger.address), 2003]);
  const withAttestation = (attestation: Uint8Array) => reclaim({ ...signed, attestation });
  const [first, second] = [signed.attestation.slice(0, 65), signed.attestation.slice(65)];
  refuse("one signature", operator, [withAttestation(first), 6028]);
  refuse("the other order", operator, [withAttestation(Uint8Array.from([...second, ...first])), 6026]);
  refuse("one twice", operator, [withAttestation(Uint8Array.from([...first, ...first])), 6026]);
  refuse("a high s", operator, [withAttestation(Uint8Array.from([...toHighS(first), ...second])), 6030]);
  refuse("a recovery id of 0", operator, [
    withAttestation(Uint8Array.from([...first.slice(0, 64), 0, ...second])),
    6029,
  ]);
  const strange = [ATTESTERS[0] ?? assert.fail(), STRANGE_ATTESTER].toSorted((a, b) =>
    Buffer.compare(a.account, b.account),
  );
  refuse("a stranger's signature", operator, [reclaim(await attest(signed.message, strange)), 6027]);
  const elsewhere = execute(messageOf(event));
  elsewhere.writeUInt32BE(7, 8);
  refuse("another destination", operator, [reclaim(await attest(elsewhere)), 6032]);
  const hooked = Buffer.concat([execute(messageOf(event)), Buffer.of(1)]);
  refuse("another length", operator, [reclaim(await attest(hooked)), 6032]);
  refuse("a short message", operator, [reclaim(await attest(signed.message.slice(0, 147))), 6025]);
  world.edit(states.transmitterState, (data) => data.writeUInt8(1, TRANSMITTER_PAUSED));
  refuse("paused", operator, [reclaim(signed), 6001]);
  world.edit(states.transmitterState, (data) => data.writeUInt8(0, TRANSMITTER_PAUSED));
  const before = world.lamports(operator.address);
  world.must([operator], [reclaim(signed)]);
  assert.equal(world.lamports(operator.address) - before, world.rent(EVENT_BYTES) - 5_000n);
  assert.equal(world.exists(event), false);
  refuse("twice", operator, [reclaim(signed), 3012]);
  // The body is not compared: the signed message of another burn by the same route serves too.
  world.must([operator], [buildReclaimEvent(signed, { payer: operator.address, event: other.event })]);
  world.must([operator], [buildReclaimEvent(signed, { payer: operator.address, event: cheaper.event })]);
  world.setTime(START);
});

type Incoming = Partial<IncomingBurn> & { executed?: Executed; change?: (message: Buffer) => void };

/** A burn on the other chain for the token account of an inbox. */
async function incoming(recipient: string, { executed, change, ...burn }: Incoming = {}): Promise<AttestedCctpMessage> {
  nonces += 1;
  const message = encodeIncomingBurn({
    sender: REMOTE_MESSENGER,
    receiver: keyBytes(cctpMessenger),
    recipient: keyBytes(recipient),
    source: DOMAIN_BASE,
    burnToken: REMOTE_TOKEN,
    units: 50_000_000n,
    ...burn,
  });
  const filled = execute(message, { nonce: nonces, ...executed });
  change?.(filled);
  return attest(filled);
}

const receive = (signed: AttestedCctpMessage, payer = stranger.address) =>
  buildReceiveMessage(signed, { payer, mint, feeRecipient: CCTP_FEE_RECIPIENT });

function openInbox(): SolanaInbox {
  const inbox = scene.pay();
  world.must([operator], [createAssociated(operator, inbox.address, { mint })]);
  return inbox;
}

test("a burn of another chain arrives in the inbox's token account less the fee, and is settled there", async () => {
  for (const executed of [
    { threshold: 1_000, fee: 6_500n },
    { threshold: 2_000, fee: 0n },
  ]) {
    const inbox = openInbox();
    const [fees, paid] = [world.units(feeAccount), world.units(scene.payoutAccount)];
    const signed = await incoming(inbox.tokenAccount, { executed });
    const { bytes } = world.must([stranger], [receive(signed)]);
    assert.equal(bytes, 1_224);
    assert.equal(world.units(inbox.tokenAccount), 50_000_000n - executed.fee);
    assert.equal(world.units(feeAccount) - fees, executed.fee);
    assert.ok(world.exists(deriveUsedNonce(signed.message)));
    world.must([operator], [buildSettle([inbox], { rentRecipient: true })]);
    const net = 50_000_000n - executed.fee;
    assert.equal(world.units(scene.payoutAccount) - paid, net - (net * 50n) / 10_000n);
    assert.equal(world.exists(inbox.tokenAccount), false);
    // Somebody received it already: its number's account is in use.
    refuse("twice", operator, [receive(signed, operator.address), 0]);
  }
});

test("without a token account the money waits, and arrives when there is one", async () => {
  const inbox = scene.pay();
  const signed = await incoming(inbox.tokenAccount);
  refuse("missing", stranger, [receive(signed), 3012]);
  world.must([stranger], [sendLamports(stranger, inbox.tokenAccount, 1_000_000n)]);
  refuse("lamports only", stranger, [receive(signed), 3007]);
  world.must([operator], [createAssociated(operator, inbox.address, { mint })]);
  world.must([operator], [setFrozen(inbox.tokenAccount, mint, { authority: operator, isFrozen: true })]);
  refuse("frozen", stranger, [receive(signed), 0x11]);
  world.must([operator], [setFrozen(inbox.tokenAccount, mint, { authority: operator, isFrozen: false })]);
  world.edit(states.minter, (data) => data.writeUInt8(1, MINTER_PAUSED));
  refuse("the minter paused", stranger, [receive(signed), 6002]);
  world.edit(states.minter, (data) => data.writeUInt8(0, MINTER_PAUSED));
  world.edit(states.transmitterState, (data) => data.writeUInt8(1, TRANSMITTER_PAUSED));
  refuse("the transmitter paused", stranger, [receive(signed), 6001]);
  world.edit(states.transmitterState, (data) => data.writeUInt8(0, TRANSMITTER_PAUSED));
  world.must([stranger], [receive(signed)]);
  assert.equal(world.units(inbox.tokenAccount), 50_000_000n);
});

test("a receipt is refused for the issuer's reasons", async () => {
  const { tokenAccount } = openInbox();
  const refuseChanged = async (name: string, change: Incoming, code: number) =>
    refuse(name, stranger, [receive(await incoming(tokenAccount, change)), code]);
  await refuseChanged("another sender", { sender: Buffer.alloc(32, 9) }, 6002);
  await refuseChanged("a fee above the maximum", { executed: { fee: 500_001n } }, 6015);
  await refuseChanged("a fee of everything", { executed: { fee: 50_000_000n }, feeMax: 50_000_000n }, 6014);
  await refuseChanged("a threshold below 500", { executed: { threshold: 499 } }, 6017);
  const clock = world.svm.getClock();
  clock.slot = 1_000n;
  world.svm.setClock(clock);
  await refuseChanged("expired", { executed: { expiration: 1_000n } }, 6016);
  await refuseChanged("another version", { change: (message) => message.writeUInt32BE(0, 0) }, 6019);
  await refuseChanged("another version of the body", { change: (message) => message.writeUInt32BE(0, 148) }, 6005);
  await refuseChanged("for another chain", { change: (message) => message.writeUInt32BE(6, 8) }, 6018);
  await refuseChanged("for another caller", { change: (message) => message.writeUInt8(1, 139) }, 6014);
  await refuseChanged("for another program", { receiver: keyBytes(scene.robber) }, 6021);
  await refuseChanged("an amount of 32 bytes", { change: (message) => message.writeUInt8(1, 148 + 68) }, 6004);
  await refuseChanged("a token without a pair", { burnToken: Buffer.alloc(32, 7) }, 3012);
  await refuseChanged("a domain without a messenger", { source: 3 }, 3012);
  const signed = await incoming(tokenAccount);
  const others = createAuxiliary(world, stranger, { mint, owner: stranger.address });
  refuse("another recipient", stranger, [
    withAccount(receive(signed), 15, { address: others, isSigner: false, isWritable: true }),
    6009,
  ]);
  const otherFees = { address: others, isSigner: false, isWritable: true };
  refuse("another account for the fee", stranger, [withAccount(receive(signed), 14, otherFees), 3014]);
  refuse("a changed message", stranger, [withData(receive(signed), 12 + 148 + 99, 1), 6027]);
  refuse("one signature", stranger, [receive({ ...signed, attestation: signed.attestation.slice(0, 65) }), 6028]);
  const elsewhere = deriveUsedNonce((await incoming(tokenAccount)).message);
  refuse("another number's account", stranger, [
    withAccount(receive(signed), 4, { address: elsewhere, isSigner: false, isWritable: true }),
    2006,
  ]);
  world.must([stranger], [receive(signed)]);
  world.must([stranger], [receive(await incoming(tokenAccount, { executed: { expiration: 1_001n } }))]);
});

test("what belongs to the other program is no instruction", () => {
  const receiving = {
    program: cctpMessenger,
    accounts: [],
    data: Uint8Array.from([38, 144, 127, 225, 31, 225, 238, 25]),
  };
  refuse("receive_message of the messenger", stranger, [receiving, 101]);
  const burning = {
    program: cctpTransmitter,
    accounts: [],
    data: Uint8Array.from([215, 60, 61, 46, 114, 55, 128, 176]),
  };
  refuse("deposit_for_burn of the transmitter", stranger, [burning, 101]);
});
