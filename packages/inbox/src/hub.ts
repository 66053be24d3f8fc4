import type { Hex } from "./hex.ts";

/** Number of the contract pair below; it stands in `inboxTerms.version` on the wire. */
export const inboxVersion = 1;

/** Salt of the hub at the deterministic deployer. */
export const hubSalt: Hex = "0x0000000000000000000000000000000000000000000000000000000000000000";

/** The contract that stands at this address on almost every EVM chain and creates by CREATE2. */
export const deterministicDeployer: Hex = "0x4e59b44847b379578588920ca78fbf26c0b4956c";

/** Address of the hub, the same on every EVM chain. */
export const hubAddress: Hex = "0x0000000000000000000000000000000000000001";

/** Address of the code that every inbox delegates to; the hub creates it with its first nonce. */
export const implementationAddress: Hex = "0x0000000000000000000000000000000000000002";
