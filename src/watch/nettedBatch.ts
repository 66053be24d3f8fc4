import { ProviderFailed, type ProvenTransfer } from "../chain/reader.ts";

// The hub nets inboxes in a closed sequence: it pulls each inbox, pays the payout, then pays the fee. When the fee
// wallet refuses, the payout receives the fee too. A sequence whose fee is zero has one payment. Only these payments
// show whether a fee was paid. Tokens run no code of a recipient, so no other transfer of the token comes between the
// payments of a sequence.

/** What the hub paid for the pulls of one netted sequence. A sequence pays the whole fee or none. */
export type BatchPayment = {
  /** Place of its last payment, which identifies the sequence in its block. */
  place: bigint;
  /** Recipient of the first payment. */
  payout: string;
  /** The second payment: the fee, or the refused fee to the payout. Undefined without one. */
  second: { to: string; amountUnits: bigint } | undefined;
};

/** A transfer out of an inbox that the hub may have received. */
type Pull = { token: string; counterparty: string; place: bigint };

type Sequence = { pulledFrom: bigint; pulledUpTo: bigint; payments: ProvenTransfer[] };

/** Finds the payments of pulls in one transaction. `transfers`: all of the transaction, in any order. */
export class BatchPayments {
  readonly #transfers: readonly ProvenTransfer[];
  readonly #sequences = new Map<string, readonly Sequence[]>();

  constructor(transfers: readonly ProvenTransfer[]) {
    this.#transfers = transfers.toSorted((one, other) => (one.place < other.place ? -1 : 1));
  }

  /** Undefined when the recipient of the pull paid nothing on, or more than a sequence pays. */
  find({ token, counterparty: hub, place }: Pull): BatchPayment | undefined {
    const key = `${hub}/${token}`;
    const sequences = this.#sequences.get(key) ?? listSequences(this.#transfers, { token, hub });
    this.#sequences.set(key, sequences);
    const found = sequences.find(({ pulledFrom, pulledUpTo }) => pulledFrom <= place && place <= pulledUpTo);
    const [payout, second, ...others] = found?.payments ?? [];
    if (payout === undefined || others.length > 0) return undefined;
    return {
      place: (second ?? payout).place,
      payout: payout.to,
      second: second && { to: second.to, amountUnits: parseUnits(second) },
    };
  }
}

/**
 * A transfer to the hub that follows a payment starts the next sequence. A stranger's transfers to the hub join a
 * sequence without effect.
 */
function listSequences(transfers: readonly ProvenTransfer[], { token, hub }: { token: string; hub: string }) {
  const sequences: Sequence[] = [];
  for (const transfer of transfers) {
    if (transfer.token !== token || (transfer.from !== hub && transfer.to !== hub)) continue;
    // Anybody can send zero amounts, from any address.
    if (parseUnits(transfer) === 0n) continue;
    const current = sequences.at(-1);
    if (transfer.from === hub) current?.payments.push(transfer);
    else if (current === undefined || current.payments.length > 0)
      sequences.push({ pulledFrom: transfer.place, pulledUpTo: transfer.place, payments: [] });
    else current.pulledUpTo = transfer.place;
  }
  return sequences;
}

function parseUnits({ amountText }: ProvenTransfer): bigint {
  try {
    return BigInt(amountText);
  } catch (error) {
    throw new ProviderFailed("bad_answer", "a transfer of a proof has no amount", { cause: error });
  }
}
