import { token2022Program } from "@tributary/inbox/solana/keys";
import { askLowerMedian } from "../../lowerMedian.ts";
import { fetchRent } from "../send/sendRequests.ts";
import type { SolanaSenderContext } from "../send/senderContext.ts";

/**
 * Bytes of a token account; of Token-2022 with the extensions that an accepted mint asks for: immutable owner,
 * pausable.
 */
const ACCOUNT_BYTES = 165;
const ACCOUNT_2022_BYTES = 174;

/** Bytes of the account that holds the message of a burn. */
const EVENT_BYTES = 428;

/** The lamports that the account of a burn's message needs now. */
export function fetchEventRent({ providers }: SolanaSenderContext): Promise<bigint> {
  return askLowerMedian(providers, (node) => fetchRent(node, EVENT_BYTES));
}

/**
 * The lamports that a token account of a configured mint needs now. The price of a byte changes on clusters, so nothing
 * is kept.
 */
export function fetchAccountRent({ providers, tokenPrograms }: SolanaSenderContext): Promise<bigint> {
  const bytes = [...tokenPrograms.values()].includes(token2022Program) ? ACCOUNT_2022_BYTES : ACCOUNT_BYTES;
  return askLowerMedian(providers, (node) => fetchRent(node, bytes));
}
