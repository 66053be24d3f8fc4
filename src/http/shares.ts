import type { Server } from "node:http";
import { BlockList, isIP, type DropArgument, type Socket } from "node:net";
import type { World } from "../world.ts";
import { callerNetwork, callerSite } from "./rate/address.ts";

/** Where more than half of all connections stand, nobody gets another one who has his share of all. */
const CROWDED_PART = 1 / 2;
const NETWORK_PART = 1 / 10;
/** Whoever has a whole IPv6 site comes from any of its 65,536 networks: all of them together get twice what one gets. */
const SITE_PART = 1 / 5;
const TOLD_EVERY_MS = 60_000;

export type SharingWorld = Pick<World, "clock" | "log">;

export type SharingOptions = { trustedProxies: readonly string[]; connectionsMax: number; world: SharingWorld };

/** Whoever opens thousands of connections from one network and says nothing on them cannot take the last ones from everybody else. */
export function shareConnections(server: Server, options: SharingOptions): void {
  const { trustedProxies, connectionsMax, world } = options;
  const proxies = blockListOf(trustedProxies);
  const counts = new Map<string, number>();
  let allCount = 0;
  const tellRefusal = refusalTeller(world);
  server.on("drop", (dropped?: DropArgument) =>
    tellRefusal({ from: dropped?.remoteAddress, why: "all connections are taken" }),
  );
  server.prependListener("connection", (socket: Socket) => {
    const address = socket.remoteAddress ?? "";
    const groups = groupsOf(address);
    const isCrowded = allCount >= connectionsMax * CROWDED_PART;
    const full = groups.find(({ name, part }) => (counts.get(name) ?? 0) >= connectionsMax * part);
    if (isCrowded && full !== undefined && !isListed(proxies, address)) {
      tellRefusal({ from: full.name, why: "it has its share of them" });
      socket.destroy();
      return;
    }
    allCount += 1;
    for (const { name } of groups) counts.set(name, (counts.get(name) ?? 0) + 1);
    socket.once("close", () => {
      allCount -= 1;
      for (const { name } of groups) forgetOne(counts, name);
    });
  });
}

/** Whose connections a connection is one of, and which part of all each may have. */
function groupsOf(address: string): { name: string; part: number }[] {
  const network = { name: callerNetwork(address), part: NETWORK_PART };
  const site = callerSite(address);
  return site === undefined ? [network] : [network, { name: site, part: SITE_PART }];
}

function forgetOne(counts: Map<string, number>, name: string): void {
  const left = (counts.get(name) ?? 1) - 1;
  if (left === 0) counts.delete(name);
  else counts.set(name, left);
}

/** A line for the first refusal, then one a minute while there are more: who floods the service must not flood its log. */
function refusalTeller({ clock, log }: SharingWorld): (refused: { from: string | undefined; why: string }) => void {
  let refusedCount = 0;
  let quietUntilMs = -Infinity;
  return ({ from, why }) => {
    refusedCount += 1;
    const nowMs = clock.monotonicMs();
    if (nowMs < quietUntilMs) return;
    log.warn({ from, refusedCount }, `a connection was refused: ${why}`);
    refusedCount = 0;
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
