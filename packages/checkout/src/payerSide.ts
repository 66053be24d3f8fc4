import type { CheckoutState, Decimal, OriginId } from "./checkoutState.ts";

// What the payer's own side knows: what a wallet was asked, what it answered, and what the chain shows of it. Pure. A
// wallet may do anything at any time, so that only three things end a request that it has: the transfer arrives, the
// wallet says that its owner refused, or the payer says that nothing was sent.

/** From then on the payer may say that nothing was sent. */
export const DENIABLE_MS = 600_000;
/** A transfer that the network does not show for so long is not "in a few seconds" any more. */
const SLOW_MS = 60_000;

/** One request to a wallet. At most one is open, over any choice and reload. */
export type PayerRequest = {
  /** Distinguishes attempts: what an earlier one answers later changes nothing. */
  readonly attempt: number;
  readonly wallet: string;
  readonly originId: OriginId;
  readonly networkName: string;
  /** In the coin that was asked for. */
  readonly amount: Decimal;
  /** The call of a token's contract, by which the transfer is known again. Null on Solana. */
  readonly call: { readonly to: string; readonly data: string } | null;
  /** Milliseconds since 1970. */
  readonly askedAt: number;
  /** Deposits that were there before: they are not this transfer. */
  readonly known: readonly string[];
  /** Null while unknown. */
  readonly hash: string | null;
  readonly step: /** Prepared; the wallet has no transfer yet, and another press replaces it. */
    | "preparing"
    /** The wallet has the transfer. */
    | "asking"
    /** An earlier request waits in the wallet. */
    | "waits"
    /** The wallet says that it sent it. */
    | "sent"
    /** The chain has it, and the service will show it. */
    | "mined"
    /** The wallet failed, or the page was opened anew: it may have been sent or not. */
    | "unknown"
    /** The chain does not know it any more: replaced or dropped. */
    | "lost"
    /** The wallet is on another chain, and the transfer is not on this one. */
    | "elsewhere";
};

/** How a request ended without a transfer. */
export type WalletNote = {
  readonly wallet: string;
  readonly note: "refused" | "poor" | "network" | "unready" | "busy" | "reverted";
};

export type PayerSide = { readonly request: PayerRequest | null; readonly note: WalletNote | null };

export const IDLE: PayerSide = { request: null, note: null };

export type PayerEvent =
  | { readonly type: "pressed"; readonly request: Omit<PayerRequest, "step" | "hash"> }
  /** The wallet gets the transfer now. */
  | ({ readonly type: "handed" | "answered" | "failed" | "followed"; readonly attempt: number } & Content)
  | { readonly type: "arrived"; readonly state: CheckoutState }
  | { readonly type: "denied"; readonly now: number }
  | { readonly type: "restored"; readonly request: PayerRequest };

type Content = {
  /** answered: the hash that the wallet names, whatever it is. */
  readonly hash?: unknown;
  /** failed: the error's code, or what the page found before it asked. */
  readonly reason?: unknown;
  /** followed: what the chain shows of the hash. */
  readonly found?: "mined" | "reverted" | "lost" | "elsewhere" | "pending";
};

export const USER_REFUSED = 4001;
export const REQUEST_WAITS = -32_002;

/**
 * Whether a wallet may still send what it was asked for. Then it, and every other wallet, is asked for nothing more.
 */
export function isOpen({ request }: PayerSide): boolean {
  return request !== null && request.step !== "preparing";
}

export function canDeny({ request }: PayerSide, now: number): boolean {
  return request !== null && request.step !== "preparing" && now - request.askedAt >= DENIABLE_MS;
}

/** Whether a request has had the time that a transfer usually takes to show. */
export function isSlow({ askedAt }: PayerRequest, now: number): boolean {
  return now - askedAt >= SLOW_MS;
}

export function nextSide(side: PayerSide, event: PayerEvent): PayerSide {
  const { request } = side;
  switch (event.type) {
    case "pressed":
      return isOpen(side) ? side : { request: { ...event.request, step: "preparing", hash: null }, note: null };
    case "restored":
      // The wallet may still show the request, or have sent it: the answer is lost with the page that asked.
      return isOpen(side)
        ? side
        : { request: { ...event.request, ...(event.request.hash === null && { step: "unknown" }) }, note: null };
    case "denied":
      return canDeny(side, event.now) ? IDLE : side;
    case "arrived":
      return request !== null && hasArrived(request, event.state) ? IDLE : side;
    default:
      return request === null || request.attempt !== event.attempt ? side : nextRequest(request, event, side);
  }
}

function nextRequest(
  request: PayerRequest,
  { type, hash, reason, found }: { readonly type: string } & Content,
  side: PayerSide,
): PayerSide {
  const at = (step: PayerRequest["step"], changes: Partial<PayerRequest> = {}): PayerSide => ({
    request: { ...request, ...changes, step },
    note: null,
  });
  const end = (note: WalletNote["note"]): PayerSide => ({ request: null, note: { wallet: request.wallet, note } });
  const isAnswerable = request.step === "asking" || request.step === "waits" || request.step === "unknown";
  switch (type) {
    case "handed":
      return request.step === "preparing" ? at("asking") : side;
    case "answered":
      return isAnswerable ? at("sent", { hash: typeof hash === "string" && hash.length <= 100 ? hash : null }) : side;
    case "followed":
      if (request.hash === null || found === undefined) return side;
      if (found === "reverted") return end("reverted");
      return found === "pending" ? at("sent") : at(found);
    default:
      return request.step === "preparing" ? end(preparedNote(reason)) : isAnswerable ? failed() : side;
  }
  function failed(): PayerSide {
    if (reason === USER_REFUSED) return end("refused");
    return at(reason === REQUEST_WAITS ? "waits" : "unknown");
  }
}

/** Before the wallet has the transfer, nothing can have been sent. */
function preparedNote(reason: unknown): WalletNote["note"] {
  if (reason === USER_REFUSED) return "refused";
  if (reason === REQUEST_WAITS) return "busy";
  return reason === "poor" || reason === "network" ? reason : "unready";
}

/**
 * A deposit that was not there before, with the hash, or with the amount: a wallet may replace a transfer, and lie
 * about its hash.
 */
function hasArrived({ known, hash, ...asked }: PayerRequest, { deposits }: CheckoutState): boolean {
  return deposits.some(
    ({ depositId, transfer, amount, networkName }) =>
      !known.includes(depositId) &&
      (transfer === hash || (amount === asked.amount && networkName === asked.networkName)),
  );
}
