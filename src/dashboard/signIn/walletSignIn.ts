import { displayAddress, namespaceOf, referenceOf, type Caip2 } from "../../kernel/caip.ts";
import { addMs } from "../../kernel/clock.ts";
import { Fault } from "../../kernel/faults.ts";
import type { World } from "../../world.ts";
import { findMemberships, type Membership } from "../memberStore.ts";
import { requireWallet } from "../members.ts";
import { openMemberSession } from "../session.ts";
import { deleteOverChallenges, insertChallenge, takeChallenge, type Challenge } from "./challengeStore.ts";
import { isSignedByContract, isSignedByKey } from "./walletSignature.ts";

// Signing in by a wallet: it signs a text of EIP-4361, or its sibling on Solana, which names this service and a nonce that
// works once, for ten minutes.

type SignInWorld = Pick<World, "db" | "clock" | "entropy" | "memory" | "config" | "catalog" | "chains">;

const CHALLENGE_MS = 10 * 60_000;
const NONCE_BYTES = 16;

/**
 * A text for a wallet to sign. It says nothing about whether the wallet is a member. `chainId`: of the EVM chain that the
 * wallet is on, where it is a contract. Throws invalid_request.
 */
export async function createChallenge(
  world: SignInWorld,
  walletText: string,
  chainId = "",
): Promise<{ nonce: string; text: string }> {
  const { namespace, wallet } = requireWallet(world, walletText);
  const createdAt = world.clock.now();
  const nonce = Buffer.from(world.entropy.bytes(NONCE_BYTES)).toString("hex");
  const ofWallet = world.config.chains.find(({ caip2 }) => namespace === "eip155" && caip2 === `eip155:${chainId}`);
  const challenge = {
    nonce,
    namespace,
    wallet,
    chain: ofWallet?.caip2 ?? null,
    createdAt,
    expiresAt: addMs(createdAt, CHALLENGE_MS),
  };
  await insertChallenge(world.db, challenge);
  return { nonce, text: challengeText(world, challenge) };
}

function challengeText(
  { config }: SignInWorld,
  { namespace, wallet, chain, nonce, createdAt, expiresAt }: Challenge,
): string {
  const { host, origin } = new URL(config.baseUrl);
  const isSolana = namespace === "solana";
  const shown = chain ?? config.chains.find(({ caip2 }) => namespaceOf(caip2) === namespace)?.caip2;
  const reference = shown === undefined ? undefined : referenceOf(shown);
  return [
    `${host} wants you to sign in with your ${isSolana ? "Solana" : "Ethereum"} account:`,
    displayAddress(`${namespace}:1`, wallet),
    "",
    "Sign in to the dashboard. This costs nothing and moves no money.",
    "",
    `URI: ${origin}/dashboard`,
    "Version: 1",
    `Chain ID: ${reference ?? (isSolana ? "mainnet" : "1")}`,
    `Nonce: ${nonce}`,
    `Issued At: ${createdAt.toISOString()}`,
    `Expiration Time: ${expiresAt.toISOString()}`,
  ].join("\n");
}

/** `isOneOfSeveral`: the wallet may choose another account. */
export type WalletSession = { cookie: string; isOneOfSeveral: boolean };

/**
 * Signs in by a signed challenge, to the first of the wallet's accounts. `mayAsk`: whether the chain may be asked now, for
 * a wallet that is a contract. Throws unauthorized: unknown, used, over, signed by another, or no member.
 */
export async function openWalletSession(
  world: SignInWorld,
  { nonce, signature }: { nonce: string; signature: string },
  mayAsk: (chain: Caip2) => Promise<boolean>,
): Promise<WalletSession> {
  const challenge = await takeChallenge(world.db, nonce, world.clock.now());
  if (challenge === undefined) throw refused();
  const { namespace, wallet, chain } = challenge;
  const signed = { namespace, wallet, text: challengeText(world, challenge), signature };
  const memberships = await findMemberships(world.db, { namespace, wallet });
  const signer = await findSigner(world, { signed, chain, memberships, mayAsk });
  const own = memberships.filter((each) => signer !== undefined && each.chain === signer.chain);
  const [first] = own;
  if (first === undefined) throw refused();
  return { cookie: await openMemberSession(world, first), isOneOfSeveral: own.length > 1 };
}

/**
 * Who signed: the wallet's private key, or the contract on the chain that the text names. Somebody else may have the
 * contract of the same address on another chain, so a member's chain counts alone.
 */
async function findSigner(
  world: SignInWorld,
  {
    signed,
    chain,
    memberships,
    mayAsk,
  }: {
    signed: Parameters<typeof isSignedByKey>[0];
    chain: Caip2 | null;
    memberships: readonly Membership[];
    mayAsk: (chain: Caip2) => Promise<boolean>;
  },
): Promise<{ chain: Caip2 | null } | undefined> {
  // Before the members are looked at, so that the time of an answer tells nothing about them.
  const isByKey = await isSignedByKey(signed);
  const isMember = (of: Caip2 | null) => memberships.some((each) => each.chain === of);
  if (isByKey && isMember(null)) return { chain: null };
  if (chain === null || !isMember(chain) || !(await mayAsk(chain))) return undefined;
  return (await isSignedByContract(world, chain, signed)) ? { chain } : undefined;
}

function refused(): Fault {
  return new Fault("unauthorized", { message: "This wallet does not sign in here." });
}

export function purgeChallenges({ db, clock }: Pick<World, "db" | "clock">, limit: number): Promise<number> {
  return deleteOverChallenges(db, { before: clock.now(), limit });
}
