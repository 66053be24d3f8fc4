// Written by contracts/scripts/artifacts.ts from the compiled contracts; change those instead.

import type { Hex } from "./hex.ts";

/** Number of the hub below; it stands in `inboxTerms.version` on the wire. */
export const inboxVersion = 2;

/** The contract that stands at this address on almost every EVM chain and creates by CREATE2. */
export const deterministicDeployer: Hex = "0x4e59b44847b379578588920ca78fbf26c0b4956c";

/** Salt of the hub at the deterministic deployer: the lowest number for an address that begins with 3 zero bytes. */
export const hubSalt: Hex = "0x000000000000000000000000000000000000000000000000000000000157dd87";

/** Address of the hub, the same on every EVM chain. */
export const hubAddress: Hex = "0x0000000b6473dd82e8dcba97523488c1c39c3dd0";

/** Address of the code that every inbox delegates to: the hub itself. */
export const implementationAddress: Hex = "0x0000000b6473dd82e8dcba97523488c1c39c3dd0";

/** Keccak-256 of the code that creates an inbox. */
export const cloneCreationCodeHash: Hex = "0x4a24040e8879cc8852da51f57607d4fff782eea26cfe9b44484c5e74e5d398c3";

/** Keccak-256 of the code that stands at the hub's address once it is there. */
export const hubCodeHash: Hex = "0xbbed7edbe5d3c9382f8f32d761cafa880d5c5bab5c4654a54f5675a559a39e8b";
