// Written by contracts/scripts/artifacts.ts from the compiled contracts; change those instead.

import type { Hex } from "./hex.ts";

/** Number of the hub below; it stands in `inboxTerms.version` on the wire. */
export const inboxVersion = 2;

/** The contract that stands at this address on almost every EVM chain and creates by CREATE2. */
export const deterministicDeployer: Hex = "0x4e59b44847b379578588920ca78fbf26c0b4956c";

/** Salt of the hub at the deterministic deployer: the lowest number for an address that begins with 3 zero bytes. */
export const hubSalt: Hex = "0x0000000000000000000000000000000000000000000000000000000000b70277";

/** Address of the hub, the same on every EVM chain. */
export const hubAddress: Hex = "0x00000060addf5f4085636f03093cebc8bb4973c2";

/** Address of the code that every inbox delegates to: the hub itself. */
export const implementationAddress: Hex = hubAddress;

/** Keccak-256 of the code that creates an inbox. */
export const cloneCreationCodeHash: Hex = "0x9dbffb2f3bd2e6c3f60d6ca3d0647e90fb06a856db3fc72214b9dbdee1a775f1";

/** Keccak-256 of the code that stands at the hub's address once it is there. */
export const hubCodeHash: Hex = "0xfd0fabf180bb64207ba240fc7dacbcdf9db36a2beb3ce9140aa6946307d6dd4a";
