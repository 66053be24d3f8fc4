import { keccak256, stringToHex, type Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";

// Who acts in the dev world. Every key follows from a sentence, so the addresses are the same in every run, and nobody's
// mnemonic is involved. Anybody can compute these keys: they must never hold anything on a real chain.

export const DEV_ROLES = [
  /** Sends deposits; holds native coin and every token. */
  "payer",
  /** Owns and mints the tokens, and deploys the contracts. */
  "issuer",
  /** Pays gas for settlements. */
  "operator",
  /** Receives the platform's fee; holds nothing at first. */
  "feeRecipient",
  /** Where the two demo merchants are paid: fresh wallets without code and without money. */
  "payoutFirst",
  "payoutSecond",
  /** The merchants' own keys for what was sent by mistake. */
  "recoveryFirst",
  "recoverySecond",
  /** Has gas and no other part in anything, for whoever needs an outsider. */
  "stranger",
] as const;

export type DevRole = (typeof DEV_ROLES)[number];

export interface DevAccount {
  /** Lower case. */
  address: Hex;
  privateKey: Hex;
}

/** Roles that send transactions and therefore need gas. */
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

/** The form in which addresses stand in code and database. */
export function lowerCase(address: Hex): Hex {
  return address.toLowerCase() as Hex;
}
