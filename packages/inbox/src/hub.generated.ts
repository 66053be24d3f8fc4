// Written by contracts/scripts/artifacts.ts from the compiled contracts; change those instead.

import type { Hex } from "./hex.ts";

/** Number of the contract pair below; it stands in `inboxTerms.version` on the wire. */
export const inboxVersion = 1;

/** The contract that stands at this address on almost every EVM chain and creates by CREATE2. */
export const deterministicDeployer: Hex = "0x4e59b44847b379578588920ca78fbf26c0b4956c";

/** Salt of the hub at the deterministic deployer: keccak256("tributary.hub.v1"). */
export const hubSalt: Hex = "0x7f2a4667fc5a5261b32f8be093ac497379f0e5b5ab2c69df5f0620bd6837e62d";

/** Address of the hub, the same on every EVM chain. */
export const hubAddress: Hex = "0xda62f720e8b774cfb24d7e9161d056ec18e4fba9";

/** Address of the code that every inbox delegates to: the hub's first creation. */
export const implementationAddress: Hex = "0xe91e7a01f1d2f79f1810197728333bade5aca1b5";

/** Keccak-256 of the code that creates an inbox. */
export const cloneCreationCodeHash: Hex = "0xb62a9f3cc35e6347d827b96133713c183d2d172ae90e353b326bdaf9620f819c";

/** Keccak-256 of the code that stands at the hub's address once it is there. */
export const hubCodeHash: Hex = "0x0d9fa83ff4f4c24ceb48695673918791e9fdba1deb30b688bbc34274a803f564";
