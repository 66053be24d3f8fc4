import { cctpV2AdapterAddress } from "./cctpV2Adapter.generated.ts";
import { deterministicDeployer } from "./hub.generated.ts";
import { hubs } from "./hubs.ts";
import type { Hex } from "./hex.ts";

/** Every contract of this project, and their deployer, in lower case. Money that is sent to one of them is lost. */
export const publishedContracts: readonly Hex[] = [
  ...new Set([
    ...hubs.flatMap(({ address, implementation }) => [address, implementation]),
    cctpV2AdapterAddress,
    deterministicDeployer,
  ]),
];
