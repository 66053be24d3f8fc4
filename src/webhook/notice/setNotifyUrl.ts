import type { World } from "../../world.ts";
import { requireUrl } from "../endpoint/endpoint.ts";
import { deleteNotification, saveNotification } from "./noticeStore.ts";

type NotifyWorld = Pick<World, "db" | "clock" | "entropy" | "config">;

const SECRET_BYTES = 32;

/** Where an account is told that an endpoint fails, and the secret that signs it. */
export type Notification = { url: string; secret: Uint8Array };

/**
 * Sets where an account is told that one of its endpoints fails, with a new secret; null ends it. Throws
 * invalid_request.
 */
export async function setNotifyUrl(
  { db, clock, entropy, config }: NotifyWorld,
  { accountId, url: text }: { accountId: string; url: string | null },
): Promise<Notification | null> {
  if (text === null) {
    await db.transaction((tx) => deleteNotification(tx, accountId));
    return null;
  }
  const url = requireUrl(config, text, "notifyUrl");
  const secret = entropy.bytes(SECRET_BYTES);
  await db.transaction((tx) => saveNotification(tx, { account_id: accountId, url, secret, changed_at: clock.now() }));
  return { url, secret };
}
