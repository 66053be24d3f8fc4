import { buildCloneCreationCode } from "@tributary/inbox/create2";
import { implementationAddress } from "@tributary/inbox/hub";
import { measureCreationGas, type Probed } from "../network/probes.ts";

/**
 * The gas of a settlement without creating its inbox: 63,912 under the rules of Osaka, 73,960 under those of Amsterdam.
 * `npm run forks` prints both.
 */
const TRANSFERS_GAS = 70_000n;

/**
 * What a first settlement uses, by the chain's present rules: what creating an inbox costs is measured in a simulation,
 * because forks reprice new state most.
 */
export async function estimateSettlementGas(node: Probed): Promise<bigint> {
  return TRANSFERS_GAS + (await measureCreationGas(node, buildCloneCreationCode(implementationAddress)));
}
