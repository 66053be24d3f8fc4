import { hash } from "node:crypto";
import { addMs } from "../../kernel/clock.ts";
import { Fault } from "../../kernel/faults.ts";
import type { World } from "../../world.ts";
import { openMemberSession } from "../session.ts";
import { insertLink, takeLink } from "./dashboardLinkStore.ts";

// A link signs a member in once, without his wallet. Only a test installation makes and takes them.

type LinkWorld = Pick<World, "db" | "clock" | "entropy" | "memory" | "config">;

const LINK_MS = 10 * 60_000;
const CODE_BYTES = 32;
const CODE_PATTERN = /^dash_[A-Za-z0-9_-]{43}$/;

/** Creates a link's code. The database stores only its hash. */
export async function createDashboardCode(
  { db, clock, entropy }: LinkWorld,
  memberId: string,
): Promise<{ code: string; expiresAt: Date }> {
  const code = `dash_${Buffer.from(entropy.bytes(CODE_BYTES)).toString("base64url")}`;
  const at = clock.now();
  const expiresAt = addMs(at, LINK_MS);
  await insertLink(db, { codeHash: hashCode(code), memberId, at, expiresAt });
  return { code, expiresAt };
}

/** Uses a code up, and returns the cookie's value. Throws unauthorized for a code that opens nothing. */
export async function openLinkSession(world: LinkWorld, code: string): Promise<string> {
  const isCode = world.config.environment === "test" && CODE_PATTERN.test(code);
  const member = isCode ? await takeLink(world.db, hashCode(code), world.clock.now()) : undefined;
  if (member === undefined) throw new Fault("unauthorized", { message: "This link opens nothing." });
  return openMemberSession(world, member);
}

function hashCode(code: string): Uint8Array {
  return new Uint8Array(Buffer.from(hash("sha256", code, "hex"), "hex"));
}
