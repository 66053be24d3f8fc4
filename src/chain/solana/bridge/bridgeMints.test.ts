import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { cctpMessenger, cctpTransmitter } from "@tributary/inbox/solana/cctp";
import { encodeBase58 } from "@tributary/inbox/solana/base58";
import { decodeKey, tokenProgram } from "@tributary/inbox/solana/keys";
import { SOLANA_ACCOUNTS } from "../../../../packages/local-solana/src/fixtures.ts";
import type { Instruction } from "../rpc/parseTransaction.ts";
import { BRIDGE_MINTER, hasUnknownMint, parseBridgeMints } from "./bridgeMints.ts";

const account = SOLANA_ACCOUNTS.payer.address;
const custody = SOLANA_ACCOUNTS.stranger.address;
const [UNITS, FEE] = [100n, 3n];

/** The data of a receipt of 97 units for the account, with bytes behind its signatures. */
function receiptData(more: number, tag = "26907fe11fe1ee19"): string {
  const message = Buffer.alloc(376);
  message.writeUInt32BE(6, 4);
  message.set(decodeKey("handler", cctpMessenger), 76);
  message.set(decodeKey("recipient", account), 184);
  message.writeBigUInt64BE(UNITS, 240);
  message.writeBigUInt64BE(FEE, 336);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(message.length);
  const signatures = Buffer.alloc(69);
  signatures.writeUInt32LE(65);
  return encodeBase58(Buffer.concat([Buffer.from(tag, "hex"), length, message, signatures, Buffer.alloc(more, 0xd7)]));
}
const received = (data: string): Instruction => ({ program: cctpTransmitter, accounts: [], data, depth: 2 });

test("a receipt is read with as much behind its signatures as a program passes to another", () => {
  for (const more of [0, 1, 900, 3_000, 9_700]) {
    const mints = parseBridgeMints({ instructions: [received(receiptData(more))] });
    deepEqual(
      mints.map(({ account: to, units, feeUnits }) => [to, units, feeUnits]),
      [[account, UNITS - FEE, FEE]],
      `${more} bytes`,
    );
  }
  const others = ["26907fe11fe1ee18", "26907fe31fe1ee19", "0000000000000000"].map((tag) => receiptData(9_000, tag));
  deepEqual(parseBridgeMints({ instructions: others.map(received) }), []);
});

test("what the bridge gives without a receipt that names it is no deposit", () => {
  const before = [{ account: custody, mint: "", owner: BRIDGE_MINTER, tokenProgram, units: 1_000n }];
  const give = (units: bigint) => {
    const data = Buffer.from([3, 0, 0, 0, 0, 0, 0, 0, 0]);
    data.writeBigUInt64LE(units, 1);
    return { program: tokenProgram, accounts: [custody, account, BRIDGE_MINTER], data: encodeBase58(data), depth: 3 };
  };
  const receipt = received(receiptData(0));
  const isUnknown = (instructions: readonly Instruction[]) => hasUnknownMint({ instructions, before });
  equal(isUnknown([receipt, give(FEE), give(UNITS - FEE)]), false);
  equal(isUnknown([receipt, give(FEE), give(UNITS - FEE), give(1n)]), true);
  equal(isUnknown([give(UNITS)]), true);
  equal(hasUnknownMint({ instructions: [give(UNITS)], before: [] }), false);
});
