import { keccak256, stringToHex, type Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";

// The accounts of the dev world. Each key is the hash of a fixed text, so the addresses are the same in every run.
// The keys are public: never send anything to these accounts on a real chain.

export const DEV_ROLES = [
  /** Sends deposits; holds native coin and every token. */
  "payer",
  /** Owns and mints the tokens, and deploys the contracts. */
  "issuer",
  /** Pays gas for settlements. */
  "operator",
  /** Receives the platform fee; empty at first. */
  "feeRecipient",
  /** Payout wallets of the two demo merchants; empty at first. */
  "payoutFirst",
  "payoutSecond",
  /** Recovery addresses of the two demo merchants. */
  "recoveryFirst",
  "recoverySecond",
  /** Signs the messages of the local bridge, and keeps its fees. */
  "attester",
  /** Has gas and no role; tests use it as an outsider. */
  "stranger",
] as const;

export type DevRole = (typeof DEV_ROLES)[number];

export interface DevAccount {
  /** Lower case. */
  address: Hex;
  privateKey: Hex;
}

/** The roles that send transactions and need gas. */
export const FUNDED_ROLES: readonly DevRole[] = [
  "payer",
  "issuer",
  "operator",
  "recoveryFirst",
  "recoverySecond",
  "stranger",
];

function deriveAccount(role: DevRole): DevAccount {
  const privateKey = keccak256(stringToHex(`tributary dev world ${role}`));
  return { address: lowerCase(privateKeyToAccount(privateKey).address), privateKey };
}

export const DEV_ACCOUNTS = Object.fromEntries(DEV_ROLES.map((role) => [role, deriveAccount(role)])) as Readonly<
  Record<DevRole, DevAccount>
>;

/** The stored form of addresses. */
export function lowerCase(address: Hex): Hex {
  return address.toLowerCase() as Hex;
}
