import type { Server } from "node:http";
import { BlockList, isIP, type Socket } from "node:net";
import type { World } from "../../world.ts";
import { toClientNetwork, callerSite } from "../rate/clientNetwork.ts";

/** Where more than half of all connections stand, nobody gets another one who has his share of all. */
const CROWDED_PART = 1 / 2;
const NETWORK_PART = 1 / 10;
/** Whoever has a whole IPv6 site comes from any of its 65,536 networks: all of them together get twice what one gets. */
const SITE_PART = 1 / 5;
/** Connections looked at for a quiet one. More of them in use, in a row, are no flood of quiet ones. */
const LOOKED_AT_MAX = 32;
const TOLD_EVERY_MS = 60_000;

export type SharingWorld = Pick<World, "clock" | "log">;

export type SharingOptions = {
  trustedProxies: readonly string[];
  connectionsMax: number;
  world: SharingWorld;
  /** Whether a connection may be closed for another one: nothing is being answered on it, nor was since this was last asked. */
  isQuiet: (socket: Socket) => boolean;
};

/** Whom a connection belongs to. */
type Group = { name: string; part: number };

/**
 * Whoever opens thousands of connections and says nothing on them cannot take the last ones from everybody else: those of one network
 * are bounded, and where many networks have taken all of them together, a quiet one makes room for a new one.
 */
export function shareConnections(server: Server, options: SharingOptions): void {
  const { trustedProxies, connectionsMax, world, isQuiet } = options;
  const proxies = blockListOf(trustedProxies);
  const counts = new Map<string, number>();
  // Those that were longest not asked about are in front.
  const standing = new Map<Socket, readonly Group[]>();
  const tell = teller(world);

  function leave(socket: Socket): void {
    for (const { name } of standing.get(socket) ?? []) forgetOne(counts, name);
    standing.delete(socket);
  }

  function makeRoom(): boolean {
    let looked = 0;
    for (const [socket, groups] of standing) {
      if (looked >= LOOKED_AT_MAX) return false;
      looked += 1;
      if (groups.length > 0 && isQuiet(socket)) {
        leave(socket);
        socket.destroy();
        return true;
      }
      standing.delete(socket);
      standing.set(socket, groups);
    }
    return false;
  }

  function whyNot(groups: readonly Group[]): string | undefined {
    const isCrowded = standing.size >= connectionsMax * CROWDED_PART;
    const full = groups.find(({ name, part }) => (counts.get(name) ?? 0) >= connectionsMax * part);
    if (isCrowded && full !== undefined) return `${full.name} has its share of all`;
    return standing.size < connectionsMax || makeRoom() ? undefined : "all are in use";
  }

  server.prependListener("connection", (socket: Socket) => {
    const address = socket.remoteAddress ?? "";
    // A proxy of ours speaks for many, and would take a connection that we close for a service that fails.
    const groups = isListed(proxies, address) ? [] : groupsOf(address);
    const isFull = standing.size >= connectionsMax;
    const why = whyNot(groups);
    if (isFull || why !== undefined) tell({ from: address, why: why ?? "a quiet one made room for it" });
    if (why !== undefined) {
      socket.destroy();
      return;
    }
    standing.set(socket, groups);
    for (const { name } of groups) counts.set(name, (counts.get(name) ?? 0) + 1);
    socket.once("close", () => leave(socket));
  });
}

/** Whose connections a connection is one of, and which part of all each may have. */
function groupsOf(address: string): Group[] {
  const network = { name: toClientNetwork(address), part: NETWORK_PART };
  const site = callerSite(address);
  return site === undefined ? [network] : [network, { name: site, part: SITE_PART }];
}

function forgetOne(counts: Map<string, number>, name: string): void {
  const left = (counts.get(name) ?? 1) - 1;
  if (left === 0) counts.delete(name);
  else counts.set(name, left);
}

/** A line for the first connection too many, then one a minute while there are more: who floods the service must not flood its log. */
function teller({ clock, log }: SharingWorld): (crowding: { from: string; why: string }) => void {
  let count = 0;
  let quietUntilMs = -Infinity;
  return ({ from, why }) => {
    count += 1;
    const nowMs = clock.monotonicMs();
    if (nowMs < quietUntilMs) return;
    log.warn({ from, why, count }, "too many connections");
    count = 0;
    quietUntilMs = nowMs + TOLD_EVERY_MS;
  };
}

function blockListOf(addresses: readonly string[]): BlockList {
  const list = new BlockList();
  for (const text of addresses) {
    const [address = "", bits] = text.split("/");
    if (bits === undefined) list.addAddress(address, familyOf(address));
    else list.addSubnet(address, Number(bits), familyOf(address));
  }
  return list;
}

function isListed(list: BlockList, address: string): boolean {
  return isIP(address) !== 0 && list.check(address, familyOf(address));
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return isIP(address) === 6 ? "ipv6" : "ipv4";
}
