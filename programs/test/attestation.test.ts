import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { after, test } from "node:test";
import { computeSolanaInbox } from "@tributary/inbox/solana/address";
import { cctpMessenger, deriveCctpAccounts } from "@tributary/inbox/solana/cctp";
import { buildReclaimEvent } from "@tributary/inbox/solana/cctpInstructions";
import { buildBridge } from "@tributary/inbox/solana/instructions";
import { decodeKey, tokenProgram } from "@tributary/inbox/solana/keys";
import { hexToBytes, type Hex } from "viem";
import { startAttestationServer } from "../../src/dev/attestation/attestationServer.ts";
import { solanaSide } from "../../src/dev/attestation/solanaSide.ts";
import { DEV_ACCOUNTS } from "../../src/dev/devAccounts.ts";
import { LOCAL_INBOX_PROGRAM, LOCAL_MINTS, SOLANA_ACCOUNTS } from "../../packages/local-solana/src/fixtures.ts";
import { createKeypair } from "../../packages/local-solana/src/keypairs.ts";
import { startLocalSolana } from "../../packages/local-solana/src/startLocalSolana.ts";
import type { LocalSolana } from "../../packages/local-solana/src/startLocalSolana.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { payTokens } from "../../test/support/solana.ts";
import { installBridge } from "../../packages/local-solana/src/installBridge.ts";
import { DOMAIN_BASE, REMOTE_MESSENGER, REMOTE_TOKEN } from "./support/cctpWorld.ts";
import { readElf } from "./support/elf.ts";
import { evmInbox, saltOf } from "./support/scene.ts";
import { drawBytes } from "../../test/support/drawBytes.ts";

// The double of Circle's attestation service signs burns on Solana, and the double of Circle's programs takes what it signed.

const FIVE_DAYS = 432_000;
const { address: mint } = LOCAL_MINTS.USDC;
const { operator } = SOLANA_ACCOUNTS;
let salts = 0;

async function openScene() {
  const solana = await startLocalSolana({ clock: systemClock, slotMs: 0, name: "attestation", finalizedAfter: 4 });
  after(() => solana.stop());
  const { control } = solana;
  const attester = Buffer.concat([Buffer.alloc(12), hexToBytes(DEV_ACCOUNTS.attester.address)]);
  const remotes = [{ domain: DOMAIN_BASE, messenger: REMOTE_MESSENGER, token: REMOTE_TOKEN }];
  installBridge(solana, { elf: readElf("cctp"), mint, attesters: [attester], remotes });
  const service = await startAttestationServer([], {
    now: () => Date.now() + 7 * 86_400_000,
    others: [solanaSide(solana.url)],
  });
  after(() => service.stop());
  const ask = async (chainTx: string) => {
    const response = await fetch(`${service.url}/v2/messages/5?transactionHash=${chainTx}`);
    return { status: response.status, body: (await response.json()) as { messages?: Record<string, unknown>[] } };
  };
  return { solana, control, service, ask };
}

/** Pays an inbox and bridges it. */
function bridge(solana: LocalSolana, route: 0 | 1): { chainTx: string; event: string; inbox: string } {
  salts += 1;
  const terms = {
    kind: "hop",
    mint,
    mintRecipient: evmInbox("ab"),
    messenger: cctpMessenger,
    rentRecipient: operator.address,
    recovery: operator.address,
    recoverAfter: 1_900_000_000,
    minAmount: 1_000_000n,
    domain: DOMAIN_BASE,
    routes: [
      { feePpmMax: 3_000, finalityThreshold: 1_000 },
      { feePpmMax: 1_000, finalityThreshold: 2_000 },
    ],
    salt: saltOf(salts),
  } as const;
  const inbox = computeSolanaInbox(terms, { program: LOCAL_INBOX_PROGRAM, tokenProgram });
  payTokens(solana, { to: inbox.address, units: 40_000_000n });
  const event = createKeypair(drawBytes(32));
  const cctp = deriveCctpAccounts({ mint, domain: DOMAIN_BASE, sender: inbox.address });
  const made = buildBridge(inbox, { cctp, payer: operator.address, event: event.address, route });
  return { chainTx: solana.control.send([operator, event], [made]), event: event.address, inbox: inbox.address };
}

test("a burn on Solana is signed, and its event's rent returns against what was signed", async () => {
  const { solana, control, service, ask } = await openScene();
  const { chainTx, event, inbox } = bridge(solana, 0);
  assert.equal((await ask(chainTx)).status, 404, "no block has it yet");
  control.confirm();
  const { status, body } = await ask(chainTx);
  const [signed] = body.messages ?? [];
  assert.deepEqual([status, body.messages?.length, signed?.["status"]], [200, 1, "complete"]);
  const message = hexToBytes(signed?.["message"] as Hex);
  const attestation = hexToBytes(signed?.["attestation"] as Hex);
  assert.deepEqual([message.length, attestation.length], [376, 65]);
  const depositor = Buffer.from(message.subarray(148 + 100, 148 + 132));
  assert.equal(depositor.toString("hex"), Buffer.from(decodeKey("inbox", inbox)).toString("hex"));
  const view = new DataView(message.buffer, message.byteOffset);
  assert.deepEqual([view.getUint32(4), view.getUint32(8), view.getUint32(144)], [5, DOMAIN_BASE, 1_000]);
  assert.equal(view.getBigUint64(148 + 164 + 24), 5_200n, "1.3 basis points");
  const decoded = signed?.["decodedMessage"] as Record<string, unknown>;
  assert.deepEqual(
    [decoded["sourceDomain"], decoded["destinationDomain"], decoded["finalityThresholdExecuted"]],
    ["5", "6", "1000"],
  );
  const { amount, maxFee, feeExecuted, hookData } = decoded["decodedMessageBody"] as Record<string, unknown>;
  assert.deepEqual([amount, maxFee, feeExecuted, hookData], ["40000000", "120000", "5200", null]);
  const reclaim = () =>
    control.send([operator], [buildReclaimEvent({ message, attestation }, { payer: operator.address, event })]);
  assert.throws(reclaim, /6033/);
  control.setTime(Math.floor(Date.now() / 1_000) + FIVE_DAYS + 60);
  reclaim();
  assert.equal(control.account(event), undefined);
  // The service has read the message before its account was closed.
  control.confirm();
  const later = (await ask(chainTx)).body.messages?.[0];
  assert.equal(later?.["message"], signed?.["message"]);
  assert.equal(service.refusedCount(), 0);
});

test("the standard route waits for finality, and what is no burn is not known", async () => {
  const { solana, control, ask } = await openScene();
  const { chainTx } = bridge(solana, 1);
  control.confirm();
  const [waiting] = (await ask(chainTx)).body.messages ?? [];
  assert.deepEqual(
    [waiting?.["status"], waiting?.["attestation"], waiting?.["message"]],
    ["pending_confirmations", "PENDING", "0x"],
  );
  control.finalize();
  const [signed] = (await ask(chainTx)).body.messages ?? [];
  assert.equal(signed?.["status"], "complete");
  assert.equal(new DataView(hexToBytes(signed["message"] as Hex).buffer).getUint32(144), 2_000);
  const payment = payTokens(solana, { to: operator.address, units: 1n });
  control.finalize();
  for (const unknown of [payment, "1".repeat(64), "0x12"]) assert.equal((await ask(unknown)).status, 404);
});
