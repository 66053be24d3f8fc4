// Written by contracts/scripts/artifacts.ts from the compiled contracts; change those instead.

import type { Hex } from "./hex.ts";

/** Number of the contract pair below; it stands in `inboxTerms.version` on the wire. */
export const inboxVersion = 1;

/** The contract that stands at this address on almost every EVM chain and creates by CREATE2. */
export const deterministicDeployer: Hex = "0x4e59b44847b379578588920ca78fbf26c0b4956c";

/** Salt of the hub at the deterministic deployer: keccak256("tributary.hub.v1"). */
export const hubSalt: Hex = "0x7f2a4667fc5a5261b32f8be093ac497379f0e5b5ab2c69df5f0620bd6837e62d";

/** Address of the hub, the same on every EVM chain. */
export const hubAddress: Hex = "0xe2dc628747e649768ed94247464b4d7244faec3c";

/** Address of the code that every inbox delegates to: the hub's first creation. */
export const implementationAddress: Hex = "0x7760fa630be20619ccf439f8c6e24fa4fc8d261d";

/** Keccak-256 of the code that creates an inbox. */
export const cloneCreationCodeHash: Hex = "0x95e3f62135ec751a5db31820c9beb725200b8091b51e96af08e2b03097c6c88f";

/** Keccak-256 of the code that stands at the hub's address once it is there. */
export const hubCodeHash: Hex = "0x5dd8eddb1fe0640b38e38be4f23aab0b764e6834fe82f5c2ff3792f131749a7c";
