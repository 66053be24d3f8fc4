import { createHmac, hash, timingSafeEqual } from "node:crypto";
import { ensureDeployment } from "../intent/deployment.ts";
import { addMs } from "../kernel/clock.ts";
import type { World } from "../world.ts";
import { insertOpsLink, takeOpsLink } from "./opsLinkStore.ts";

// The operator's page opens by a link that works once. The browser then holds a signed cookie, which is checked without
// the database: the page must open when the database does not answer.

type SessionWorld = Pick<World, "db" | "clock" | "entropy" | "memory">;

const LINK_MS = 10 * 60_000;
export const OPS_SESSION_MS = 12 * 3_600_000;
const CODE_BYTES = 32;
const CODE_PATTERN = /^ops_[A-Za-z0-9_-]{43}$/;

/** Creates a link's code. The database stores only its hash. */
export async function createOpsCode({ db, clock, entropy }: SessionWorld): Promise<{ code: string; expiresAt: Date }> {
  const code = `ops_${Buffer.from(entropy.bytes(CODE_BYTES)).toString("base64url")}`;
  const at = clock.now();
  const expiresAt = addMs(at, LINK_MS);
  await insertOpsLink(db, { codeHash: hashCode(code), at, expiresAt });
  return { code, expiresAt };
}

/** Uses a code up, and returns the value of the cookie that it opens; undefined for one that opens nothing. */
export async function openOpsSession(world: SessionWorld, code: string): Promise<string | undefined> {
  if (!CODE_PATTERN.test(code)) return undefined;
  const now = world.clock.now();
  if (!(await takeOpsLink(world.db, hashCode(code), now))) return undefined;
  const expiresAtMs = now.getTime() + OPS_SESSION_MS;
  return `${expiresAtMs}.${await sign(world, expiresAtMs)}`;
}

/** Whether a cookie's value is a session that is not over. */
export async function isOpsSession(world: SessionWorld, value: string): Promise<boolean> {
  const [, expires = "", signature = ""] = /^(\d{1,16})\.([A-Za-z0-9_-]{43})$/.exec(value) ?? [];
  if (signature === "") return false;
  const expected = Buffer.from(await sign(world, Number(expires)));
  const isSigned = timingSafeEqual(expected, Buffer.from(signature));
  return isSigned && Number(expires) > world.clock.now().getTime();
}

async function sign(world: SessionWorld, expiresAtMs: number): Promise<string> {
  const { signingSecret } = await ensureDeployment(world);
  return createHmac("sha256", signingSecret).update(`ops session\n${expiresAtMs}\n`).digest("base64url");
}

function hashCode(code: string): Uint8Array {
  return new Uint8Array(Buffer.from(hash("sha256", code, "hex"), "hex"));
}
