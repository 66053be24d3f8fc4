// Written by contracts/scripts/artifacts.ts from the compiled contracts; change those instead.

import type { Hex } from "./hex.ts";

/** Number of the contract pair below; it stands in `inboxTerms.version` on the wire. */
export const inboxVersion = 1;

/** The contract that stands at this address on almost every EVM chain and creates by CREATE2. */
export const deterministicDeployer: Hex = "0x4e59b44847b379578588920ca78fbf26c0b4956c";

/** Salt of the hub at the deterministic deployer: keccak256("tributary.hub.v1"). */
export const hubSalt: Hex = "0x7f2a4667fc5a5261b32f8be093ac497379f0e5b5ab2c69df5f0620bd6837e62d";

/** Address of the hub, the same on every EVM chain. */
export const hubAddress: Hex = "0x54d50c04d81eebb20fad61170ce166d6d7ecee5e";

/** Address of the code that every inbox delegates to: the hub's first creation. */
export const implementationAddress: Hex = "0x2d8975cfac7fdb30bd6f38b0b067e5eff4b6c8bb";

/** Keccak-256 of the code that creates an inbox. */
export const cloneCreationCodeHash: Hex = "0xf99940026d8187617ce78e5bc24ee95e8f8dc4ed33ccc86c335260641ae371f4";
