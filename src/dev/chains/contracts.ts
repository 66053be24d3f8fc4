import { deterministicDeployer, hubSalt } from "@tributary/inbox/hub";
import { hubCreationCode } from "@tributary/inbox/hubCode";
import { concat, getContractAddress, type Hex } from "viem";
import { lowerCase, type DevAccount } from "../devAccounts.ts";
import { sendCallsOrThrow, type ContractCall, type DevClient } from "./devClient.ts";

export interface Deployment {
  /** With the constructor's arguments at its end. */
  creationCode: Hex;
  salt: Hex;
}

/** The hub of this version, at the address that every inbox is computed from. */
export const HUB: Deployment = { creationCode: hubCreationCode, salt: hubSalt };

/** Enough for the largest code a chain takes (24,576 bytes). */
const CREATION_GAS_LIMIT = 7_000_000n;

/** Where the deterministic deployer puts it, on every chain; anvil has that deployer from its genesis on. */
export function deployedAddress({ creationCode, salt }: Deployment): Hex {
  const from = deterministicDeployer;
  return lowerCase(getContractAddress({ opcode: "CREATE2", bytecode: creationCode, from, salt }));
}

/** The call that puts it there; it reverts where it stands already. */
export function deploymentCall({ creationCode, salt }: Deployment): ContractCall {
  return { to: deterministicDeployer, data: concat([salt, creationCode]), gasLimit: CREATION_GAS_LIMIT };
}

/**
 * Puts the hub onto a chain, at the address it has on every chain; does nothing when it stands there.
 * @throws Error when no code stands at the address afterwards.
 */
export async function deployHub(client: DevClient, payer: DevAccount, hub: Deployment): Promise<Hex> {
  const address = deployedAddress(hub);
  if (await client.getCode({ address })) return address;
  await sendCallsOrThrow(client, payer, [deploymentCall(hub)]);
  if (!(await client.getCode({ address }))) throw new Error(`the hub did not come to stand at ${address}`);
  return address;
}
