import type { Caip2 } from "../kernel/caip.ts";

// The gate issues source inboxes where this service cannot (on Solana somebody has to hold a key), or has a say in them where it can. It is
// asked between two transactions, and may be asked the same twice: it answers the same then.

/** What the gate said of an intent's customer. */
export type BindDecision = { kind: "bound" } | { kind: "pending" } | { kind: "refused"; reason: string };

/** What the gate said of one inbox. */
export type IssueDecision =
  | { kind: "issued"; address: string }
  /** Not now and not later: for a person to look into. */
  | { kind: "refused"; reason: string }
  /** It issues none for this origin. */
  | { kind: "disabled" }
  /** It has not finished with the customer, whatever it said before. */
  | { kind: "pending" };

export type BindRequest = { intentId: string; livemode: boolean; chain: Caip2 };

export type IssueRequest = BindRequest & {
  /** The mint on Solana; null on EVM chains, where one address takes every token. */
  token: string | null;
  /** The address that must come out where it follows from the intent; null where the gate makes it. */
  address: string | null;
};

export interface Gate {
  /** Throws GateUnavailable. */
  bindCustomer(request: BindRequest): Promise<BindDecision>;
  /** Throws GateUnavailable. */
  issueInbox(request: IssueRequest): Promise<IssueDecision>;
  close(): Promise<void>;
}

/** Nothing can be said about the question: the gate was not reached, took too long, or what it answered is no verdict. */
export class GateUnavailable extends Error {
  override readonly name = "GateUnavailable";
  /** The gate is there and does not speak as agreed, which waiting will not mend. */
  readonly isProtocolError: boolean;

  constructor(message: string, options: { isNonsense: boolean; cause?: unknown }) {
    super(message, { cause: options.cause });
    this.isProtocolError = options.isNonsense;
  }
}
