import { decodeBase58 } from "@tributary/inbox/solana/base58";
import { cctpMessenger } from "@tributary/inbox/solana/cctp";
import type { ProvenCrossing } from "../../reader.ts";
import type { AccountTransfer } from "../read/transactionTransfers.ts";
import type { SolanaTransaction } from "../rpc/parseTransaction.ts";

// What the instructions of Circle's programs show of a transaction. A transaction that succeeded has executed all of
// them, those of other programs included, because any program that calls another fails with it.

/** The first bytes of the messenger's instruction that burns, and the places of its arguments. */
const DEPOSIT_FOR_BURN = "d73c3d2e723780b0";
const AMOUNT = 8;
const DOMAIN = 16;
const BURN_BYTES = 96;
/** More digits than the base58 of such an instruction has. */
const DATA_LENGTH_MAX = 140;
/** Who signs for the burned tokens. */
const OWNER = 0;

/** The mints among the transfers of a transaction. */
export function toProvenMints(transfers: readonly AccountTransfer[]): ProvenCrossing[] {
  return transfers.flatMap(({ to: recipient, units, identity, mint }) => {
    if (mint?.foreignSender === undefined) return [];
    const { name, foreignSender, feeUnits } = mint;
    return [{ direction: "in", name, sender: undefined, foreignSender, recipient, units, feeUnits, identity }];
  });
}

/** The burns of a transaction, in the order of their execution. */
export function parseProvenBurns({ instructions }: Pick<SolanaTransaction, "instructions">): ProvenCrossing[] {
  return instructions.flatMap(({ program, accounts, data }) => {
    const sender = accounts[OWNER];
    if (program !== cctpMessenger || sender === undefined || data.length > DATA_LENGTH_MAX) return [];
    const bytes = Buffer.from(decodeBase58(data) ?? []);
    if (bytes.length !== BURN_BYTES || bytes.toString("hex", 0, AMOUNT) !== DEPOSIT_FOR_BURN) return [];
    return [
      {
        direction: "out",
        name: `cctp-v2/${bytes.readUInt32LE(DOMAIN)}`,
        sender,
        // Circle burns for other chains only.
        recipient: undefined,
        units: bytes.readBigUInt64LE(AMOUNT),
        feeUnits: 0n,
      },
    ];
  });
}
