import { deepEqual, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import { encodeAbiParameters, pad, toEventSelector, type Hex } from "viem";
import { parseProvenCrossings, type BridgeContracts } from "../chain/evm/bridge/provenCrossings.ts";
import { createProof } from "../chain/evm/proof.ts";
import { ProviderFailed } from "../chain/reader.ts";
import { assignIdentities, chainTxsToProve, type InboxTransfer } from "./movement.ts";

const INBOX: Hex = `0x${"1b".repeat(20)}`;
const STRANGER: Hex = `0x${"5a".repeat(20)}`;
const TOKEN: Hex = `0x${"70".repeat(20)}`;
const MINTER: Hex = `0x${"3e".repeat(20)}`;
const ZERO: Hex = `0x${"00".repeat(20)}`;
const NONCE: Hex = `0x${"4e".repeat(32)}`;
const REMOTE_MESSENGER = pad(`0x${"e5".repeat(20)}`);
const CONTRACTS: BridgeContracts = {
  messenger: `0x${"a0".repeat(20)}`,
  transmitter: `0x${"b0".repeat(20)}`,
  remoteMessengers: new Map([[6, REMOTE_MESSENGER]]),
};
const DOMAIN = 6;

const BURN_TOPIC = toEventSelector(
  "DepositForBurn(address,uint256,address,bytes32,uint32,bytes32,bytes32,uint256,uint32,bytes)",
);
const RECEIVED_TOPIC = toEventSelector("MessageReceived(address,uint32,bytes32,bytes32,uint32,bytes)");

function burnLog({ depositor = INBOX, recipient = INBOX, units = 100n, address = CONTRACTS.messenger } = {}) {
  const types = ["uint256", "bytes32", "uint32", "bytes32", "bytes32", "uint256", "bytes"].map((type) => ({ type }));
  const values = [units, pad(recipient), DOMAIN, REMOTE_MESSENGER, pad("0x"), 1n, "0x"];
  return {
    address,
    topics: [BURN_TOPIC, pad(TOKEN), pad(depositor), pad("0x03e8")],
    data: encodeAbiParameters(types, values),
  };
}

type Receipt = {
  from?: Hex;
  recipient?: Hex;
  units?: bigint;
  fee?: bigint;
  sender?: Hex;
  address?: string;
  nonce?: Hex;
};

function receivedLog(receipt: Receipt = {}) {
  const { from = INBOX, recipient = INBOX, units = 100n, fee = 1n } = receipt;
  const { sender = REMOTE_MESSENGER, address = CONTRACTS.transmitter, nonce = NONCE } = receipt;
  const number = (value: bigint) => value.toString(16).padStart(64, "0");
  const word = (value: Hex) => pad(value).slice(2);
  const fields = [word(TOKEN), word(recipient), number(units), word(from), number(2n), number(fee), number(0n)];
  const types = ["uint32", "bytes32", "bytes"].map((type) => ({ type }));
  const data = encodeAbiParameters(types, [DOMAIN, sender, `0x00000001${fields.join("")}`]);
  return { address, topics: [RECEIVED_TOPIC, pad(STRANGER), nonce, pad("0x03e8")], data };
}

const TX = { chainTx: "0xtx", blockNumber: 7n, blockHash: "0xblock" };

function transfer(direction: "in" | "out", more: Partial<InboxTransfer> = {}): InboxTransfer {
  const counterparty = direction === "in" ? ZERO : MINTER;
  return { ...TX, direction, inbox: INBOX, token: TOKEN, counterparty, amountUnits: 100n, place: 0n, ...more };
}

/** What the logs of one transaction say about transfers in it. */
function explain(transfers: readonly InboxTransfer[], logs: readonly unknown[]) {
  const crossings = () => parseProvenCrossings(logs, CONTRACTS);
  const proof = { ...createProof({ ...TX, succeeded: true, logIndexFirst: 0, logCount: 9 }), crossings };
  return assignIdentities(transfers, [proof], ZERO).map(({ crossing }) => crossing);
}

test("a burn by an inbox to itself explains the transfer out", () => {
  deepEqual(explain([transfer("out")], [burnLog()]), [{ crossingName: "cctp-v2/6", feeUnits: 0n }]);
});

test("D41 a mint of an inbox's own burn explains the transfer in, with what the bridge kept", () => {
  const minted = transfer("in", { amountUnits: 99n });
  deepEqual(explain([minted], [receivedLog()]), [{ crossingName: `cctp-v2/6/${NONCE}`, feeUnits: 1n }]);
});

test("D41 nothing else explains a transfer", () => {
  const minted = transfer("in", { amountUnits: 99n });
  const cases: [string, InboxTransfer, unknown][] = [
    ["a payer's own burn to the inbox", minted, receivedLog({ from: STRANGER })],
    ["a mint to another inbox", minted, receivedLog({ recipient: STRANGER })],
    ["another amount", transfer("in", { amountUnits: 98n }), receivedLog()],
    ["a message that no messenger sent", minted, receivedLog({ sender: pad(STRANGER) })],
    ["an event of a foreign transmitter", minted, receivedLog({ address: STRANGER })],
    ["an event of a foreign messenger", transfer("out"), burnLog({ address: STRANGER })],
    ["a burn for another recipient", transfer("out"), burnLog({ recipient: STRANGER })],
    ["a burn of somebody else", transfer("out"), burnLog({ depositor: STRANGER })],
    ["a burn, for a transfer in", transfer("in"), burnLog()],
  ];
  for (const [name, moved, log] of cases) deepEqual(explain([moved], [log]), [undefined], name);
});

test("each message explains one transfer of its transaction", () => {
  const minted = [0n, 1n, 2n].map((place) => transfer("in", { amountUnits: 99n, place }));
  const other: Hex = `0x${"0f".repeat(32)}`;
  const explained = explain(minted, [receivedLog(), receivedLog({ nonce: other })]);
  deepEqual(
    explained.map((crossing) => crossing?.crossingName),
    [`cctp-v2/6/${NONCE}`, `cctp-v2/6/${other}`, undefined],
  );
});

test("a malformed event of the bridge is the provider's fault, and a short message is none of ours", () => {
  throws(() => explain([transfer("out")], [{ ...burnLog(), data: "0x12" }]), ProviderFailed);
  const { data, ...log } = receivedLog();
  const short = encodeAbiParameters(
    ["uint32", "bytes32", "bytes"].map((type) => ({ type })),
    [DOMAIN, REMOTE_MESSENGER, "0x01"],
  );
  equal(data === short, false);
  deepEqual(explain([transfer("in")], [{ ...log, data: short }]), [undefined]);
});

test("a transfer of new tokens needs a proof where a bridge mints", () => {
  const known = { ...transfer("in"), identity: "0" };
  deepEqual(chainTxsToProve([known], ZERO), ["0xtx"]);
  deepEqual(chainTxsToProve([known], undefined), []);
});

test("a mint or a burn whose proof a provider leaves out is not recorded, though its place is known", () => {
  const mint = { ...transfer("in"), identity: "0" };
  const burn = { ...transfer("out"), identity: "0" };
  for (const each of [mint, burn]) throws(() => assignIdentities([each], [], ZERO), ProviderFailed);
  const elsewhere = createProof({ ...TX, blockHash: "0xother", succeeded: true, logIndexFirst: 0, logCount: 9 });
  for (const each of [mint, burn]) throws(() => assignIdentities([each], [elsewhere], ZERO), ProviderFailed);
  const plain = { ...transfer("in"), counterparty: MINTER, identity: "0" };
  equal(assignIdentities([plain], [], ZERO).length, 1, "a plain transfer needs none");
});

test("a mint from a domain that this release does not know is one when the published messenger sent its message", () => {
  const published = { ...CONTRACTS, remoteMessengers: new Map(), publishedMessenger: REMOTE_MESSENGER };
  equal(parseProvenCrossings([receivedLog()], published).length, 1);
  equal(parseProvenCrossings([receivedLog({ sender: pad(STRANGER) })], published).length, 0);
  const other = { ...published, remoteMessengers: new Map([[DOMAIN, pad(STRANGER)]]) };
  equal(parseProvenCrossings([receivedLog()], other).length, 0, "a configured domain has its own messenger");
  equal(parseProvenCrossings([receivedLog()], { ...CONTRACTS, remoteMessengers: new Map() }).length, 0);
});
