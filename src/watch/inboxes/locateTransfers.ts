import type { Chain } from "../../chain/chain.ts";
import type { AddressFilter, ChainReader, Transfer } from "../../chain/reader.ts";
import { namespaceOf, type Caip2 } from "../../kernel/caip.ts";
import type { World } from "../../world.ts";
import {
  filterInboxTransfers,
  assignIdentities,
  chainTxsToProve,
  type InboxTransfer,
  type LocatedTransfer,
} from "../movement.ts";
import { postponeDust } from "../postponed/postponeDust.ts";
import type { WatchWorld } from "../watchWorld.ts";
import { storeBurningInboxes } from "./burningInboxes.ts";
import { listInboxesAmong } from "./inboxes.ts";
import { getWatchedInboxes } from "./watchedInboxes.ts";

export type InboxFilter = AddressFilter & { has(address: string): boolean };

/**
 * Selects the transfers of inboxes in memory. The memory is refreshed after the read, because payers see an address
 * only after its intent commits. The reporting reader also proves the transfers: when it cannot, the next provider
 * answers everything.
 */
export async function locateInboxTransfers(
  world: WatchWorld,
  reader: ChainReader,
  transfers: readonly Transfer[],
): Promise<LocatedTransfer[]> {
  if (transfers.length === 0) return [];
  const known = inboxFilter(world, reader.caip2);
  await known.refresh();
  const candidates = filterInboxTransfers(transfers, (address) => known.has(address));
  return locateWithProvider(world, reader, await postponeDust(world, reader, candidates));
}

/** The inboxes of a chain in memory, in the form that readers need. */
export function inboxFilter(world: Pick<World, "db" | "clock" | "memory">, chain: Caip2): InboxFilter {
  const inboxes = getWatchedInboxes(world, namespaceOf(chain));
  return {
    refresh: () => inboxes.refresh(world.db),
    has: (address) => inboxes.has(address),
    hasAt: (bytes, offset) => inboxes.hasAt(bytes, offset),
  };
}

/** The inboxes among senders and recipients, by the database, which knows every inbox. */
export async function findInboxesIn(
  world: WatchWorld,
  { caip2 }: Chain,
  transfers: readonly Transfer[],
): Promise<ReadonlySet<string>> {
  const addresses = new Set<string>();
  for (const { from, to } of transfers) addresses.add(from).add(to);
  return listInboxesAmong(world.db, caip2, [...addresses]);
}

/** Selects the transfers of inboxes by the database. For reads that are not urgent. */
export async function matchInboxesInDatabase(
  world: WatchWorld,
  chain: Chain,
  transfers: readonly Transfer[],
): Promise<InboxTransfer[]> {
  const inboxes = await findInboxesIn(world, chain, transfers);
  return filterInboxTransfers(transfers, (address) => inboxes.has(address));
}

/** Fetches proofs for these candidates only, and identifies each. */
export async function locateTransfers(
  world: WatchWorld,
  chain: Chain,
  candidates: readonly InboxTransfer[],
): Promise<LocatedTransfer[]> {
  if (candidates.length === 0) return [];
  return chain.providers.run((reader) => locateWithProvider(world, reader, candidates));
}

/** Same as locateTransfers, with one given provider. */
export async function locateWithProvider(
  world: WatchWorld,
  reader: ChainReader,
  candidates: readonly InboxTransfer[],
): Promise<LocatedTransfer[]> {
  if (candidates.length === 0) return [];
  const chainTxs = chainTxsToProve(candidates, reader.mintSender);
  const proofs = chainTxs.length === 0 ? [] : await reader.proofs(chainTxs);
  const located = assignIdentities(candidates, proofs, reader.mintSender);
  await storeBurningInboxes(world, reader.caip2, located);
  return located;
}
