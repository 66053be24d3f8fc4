import { deterministicDeployer, hubSalt } from "@tributary/inbox/hub";
import { hubCreationCode } from "@tributary/inbox/hubCode";
import { concat, getContractAddress, type Hex } from "viem";
import { lowerCase, type DevAccount } from "../devAccounts.ts";
import { sendCallsOrThrow, type ContractCall, type DevClient } from "./devClient.ts";

export interface Deployment {
  /** Includes the constructor's arguments. */
  creationCode: Hex;
  salt: Hex;
}

/** The hub of this version. Its address is part of every inbox address. */
export const HUB: Deployment = { creationCode: hubCreationCode, salt: hubSalt };

/** Enough for the largest contract code that chains accept (24,576 bytes). */
const CREATION_GAS_LIMIT = 7_000_000n;

/**
 * The CREATE2 address by the deterministic deployer, the same on every chain. Anvil has the deployer from its genesis
 * on.
 */
export function deployedAddress({ creationCode, salt }: Deployment): Hex {
  const from = deterministicDeployer;
  return lowerCase(getContractAddress({ opcode: "CREATE2", bytecode: creationCode, from, salt }));
}

/** The call that deploys the contract. It reverts when the contract exists. */
export function deploymentCall({ creationCode, salt }: Deployment): ContractCall {
  return { to: deterministicDeployer, data: concat([salt, creationCode]), gasLimit: CREATION_GAS_LIMIT };
}

/**
 * Deploys the hub unless it exists, and returns its address in lower case.
 * @throws Error when the address has no code afterwards.
 */
export async function deployHub(client: DevClient, payer: DevAccount, hub: Deployment): Promise<Hex> {
  const address = deployedAddress(hub);
  if (await client.getCode({ address })) return address;
  await sendCallsOrThrow(client, payer, [deploymentCall(hub)]);
  if (!(await client.getCode({ address }))) throw new Error(`the hub was not deployed at ${address}`);
  return address;
}
