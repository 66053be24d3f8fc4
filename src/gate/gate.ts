import type { Caip2 } from "../kernel/caip.ts";

// The gate approves source inboxes before their first issue. Calls happen between two transactions and may repeat; the
// gate must then give the same answer.

/** The gate's decision about an intent's customer. */
export type BindDecision = { kind: "bound" } | { kind: "pending" } | { kind: "refused"; reason: string };

/** The gate's decision about one inbox. */
export type IssueDecision =
  | { kind: "issued"; address: string }
  /** A permanent refusal, which a person has to resolve. */
  | { kind: "refused"; reason: string }
  /** The gate issues no inboxes for this origin. */
  | { kind: "disabled" }
  /** The gate has not finished with the customer, even if it reported otherwise before. */
  | { kind: "pending" };

export type BindRequest = { intentId: string; livemode: boolean; chain: Caip2 };

export type IssueRequest = BindRequest & {
  /** The mint on Solana; null on EVM chains, where one address takes every token. */
  token: string | null;
  /** The inbox, which follows from the intent. */
  address: string;
};

export interface Gate {
  /** Throws GateUnavailable. */
  bindCustomer(request: BindRequest): Promise<BindDecision>;
  /** Throws GateUnavailable. */
  issueInbox(request: IssueRequest): Promise<IssueDecision>;
  close(): Promise<void>;
}

/** The gate gave no decision: it was unreachable, timed out, or its response is invalid. */
export class GateUnavailable extends Error {
  override readonly name = "GateUnavailable";
  /** Whether the gate responded and broke the protocol. A retry does not help then. */
  readonly isProtocolError: boolean;

  constructor(message: string, options: { isProtocolError: boolean; cause?: unknown }) {
    super(message, { cause: options.cause });
    this.isProtocolError = options.isProtocolError;
  }
}
