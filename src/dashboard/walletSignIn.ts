import { walletSignaturesOf } from "../chain/namespaces.ts";
import { displayAddress } from "../kernel/caip.ts";
import { addMs } from "../kernel/clock.ts";
import { Fault } from "../kernel/faults.ts";
import type { World } from "../world.ts";
import { deleteOverChallenges, insertChallenge, takeChallenge, type Challenge } from "./challengeStore.ts";
import { findMemberships } from "./memberStore.ts";
import { requireWallet } from "./members.ts";
import { openMemberSession } from "./session.ts";

// Signing in by a wallet: it signs a text of EIP-4361, or its sibling on Solana, which names this service and a nonce that
// works once, for ten minutes.

type SignInWorld = Pick<World, "db" | "clock" | "entropy" | "memory" | "config" | "catalog">;

const CHALLENGE_MS = 10 * 60_000;
const NONCE_BYTES = 16;

/** A text for a wallet to sign. It says nothing about whether the wallet is a member. Throws invalid_request. */
export async function createChallenge(
  world: SignInWorld,
  walletText: string,
): Promise<{ nonce: string; text: string }> {
  const { namespace, wallet } = requireWallet(world, walletText);
  const createdAt = world.clock.now();
  const nonce = Buffer.from(world.entropy.bytes(NONCE_BYTES)).toString("hex");
  const challenge = { nonce, namespace, wallet, createdAt, expiresAt: addMs(createdAt, CHALLENGE_MS) };
  await insertChallenge(world.db, challenge);
  return { nonce, text: challengeText(world, challenge) };
}

function challengeText({ config }: SignInWorld, { namespace, wallet, nonce, createdAt, expiresAt }: Challenge): string {
  const { host, origin } = new URL(config.baseUrl);
  const isSolana = namespace === "solana";
  const chain = config.chains.find(({ caip2 }) => caip2.startsWith(`${namespace}:`))?.caip2.split(":")[1];
  return [
    `${host} wants you to sign in with your ${isSolana ? "Solana" : "Ethereum"} account:`,
    displayAddress(`${namespace}:1`, wallet),
    "",
    "Sign in to the dashboard. This costs nothing and moves no money.",
    "",
    `URI: ${origin}/dashboard`,
    "Version: 1",
    `Chain ID: ${chain ?? (isSolana ? "mainnet" : "1")}`,
    `Nonce: ${nonce}`,
    `Issued At: ${createdAt.toISOString()}`,
    `Expiration Time: ${expiresAt.toISOString()}`,
  ].join("\n");
}

/**
 * Signs in by a signed challenge and returns the cookie's value. A member of several accounts names one; without a name it
 * is the first. Throws unauthorized: unknown, used, over, signed by another, or no member.
 */
export async function openWalletSession(
  world: SignInWorld,
  { nonce, signature, accountId }: { nonce: string; signature: string; accountId: string | undefined },
): Promise<string> {
  const challenge = await takeChallenge(world.db, nonce, world.clock.now());
  if (challenge === undefined) throw refused();
  const { namespace, wallet } = challenge;
  const signed = { wallet, text: challengeText(world, challenge), signature: signature.replace(/^0x/, "") };
  if (!(await walletSignaturesOf(namespace).isSigned(signed))) throw refused();
  const memberships = await findMemberships(world.db, { namespace, wallet });
  const chosen = memberships.find((each) => accountId === undefined || each.accountId === accountId);
  if (chosen === undefined) throw refused();
  return openMemberSession(world, chosen);
}

function refused(): Fault {
  return new Fault("unauthorized", { message: "This wallet does not sign in here." });
}

export function purgeChallenges({ db, clock }: Pick<World, "db" | "clock">, limit: number): Promise<number> {
  return deleteOverChallenges(db, { before: clock.now(), limit });
}
