import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { keccak256, stringToHex } from "viem";
import type { Abi, Hex } from "viem";
import { buildCloneCreationCode, computeCreate2Address } from "../../packages/inbox/src/create2.ts";
import { hubSalt as checkedInSalt } from "../../packages/inbox/src/hub.generated.ts";
import { artifactPath, runForge } from "./forge.ts";
import { mineSalt } from "./mineSalt.ts";

// Compiles the contracts and writes the generated files for the rest of the project: addresses, code and ABI. Every
// edit of a contract moves these addresses, so the files are checked in, and a test compares them with a fresh build.

const deterministicDeployer: Hex = "0x4e59b44847b379578588920ca78fbf26c0b4956c";
/** The code of an inbox leaves out this many zero bytes of the hub's address: `ZERO_BYTES` in Clone.sol. */
const hubZeroBytes = 3;
const cctpV2AdapterSaltText = "tributary.cctpV2Adapter.v1";
const sources = fileURLToPath(new URL("../../packages/inbox/src/", import.meta.url));

type Compiled = { readonly abi: Abi; readonly creationCode: Hex; readonly deployed: Deployed };

/** The deployed code, with its immutables filled in. They are ordered by the number of their declaration. */
type Deployed = {
  readonly object: Hex;
  readonly immutableReferences: Readonly<
    Record<string, readonly { readonly start: number; readonly length: number }[]>
  >;
};

/** Builds each generated file, by name. Throws when forge fails. */
export async function buildArtifacts(): Promise<ReadonlyMap<string, string>> {
  const directory = await mkdtemp(join(tmpdir(), "tributary-artifacts-"));
  try {
    const out = join(directory, "out");
    const cache = join(directory, "cache");
    const run = await runForge(["build", "--skip", "test", "--out", out, "--cache-path", cache]);
    if (run.exitCode !== 0) throw new Error(`forge build failed:\n${run.output}`);
    const names = ["InboxHub", "IInboxHub", "CctpV2Adapter"];
    const [hub, published, cctpV2] = await Promise.all(names.map((name) => readCompiled(out, name)));
    if (!hub || !published || !cctpV2) throw new Error("forge build wrote no artifact for a contract");
    return new Map([
      ["hub.generated.ts", renderHubFile(hub, await findHubSalt(hub))],
      ["hubCode.generated.ts", renderCodeFile(hub)],
      ["hubAbi.generated.ts", renderAbiFile(published.abi, [...hub.abi, ...cctpV2.abi])],
      ["cctpV2Adapter.generated.ts", cctpV2AdapterFile(cctpV2)],
    ]);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** The path of a generated file in the repository. */
export function generatedPath(name: string): string {
  return join(sources, name);
}

async function readCompiled(out: string, contract: string): Promise<Compiled> {
  const artifact = JSON.parse(await readFile(artifactPath(out, contract), "utf8")) as {
    abi: Abi;
    bytecode: { object: Hex };
    deployedBytecode: Deployed;
  };
  return { abi: artifact.abi, creationCode: artifact.bytecode.object, deployed: artifact.deployedBytecode };
}

/** Links the deployed code. Throws when the number of immutables differs from the number of values. */
function linkImmutables({ object, immutableReferences }: Deployed, values: readonly Hex[]): Hex {
  const numbers = Object.keys(immutableReferences).toSorted((one, other) => Number(one) - Number(other));
  if (numbers.length !== values.length)
    throw new Error(`the hub has ${numbers.length} immutables, not ${values.length}`);
  const digits = object.slice(2).split("");
  for (const [index, value] of values.entries()) {
    for (const { start, length } of immutableReferences[numbers[index] ?? ""] ?? [])
      digits.splice(
        start * 2,
        length * 2,
        ...value
          .slice(2)
          .padStart(length * 2, "0")
          .split(""),
      );
  }
  return `0x${digits.join("")}`;
}

const fileHeader = "// Written by contracts/scripts/artifacts.ts from the compiled contracts; change those instead.\n";

/** The checked-in salt where it still gives the zero bytes, so that only a change of the contracts takes a search. */
async function findHubSalt({ creationCode }: Compiled): Promise<Hex> {
  const codeHash = keccak256(creationCode);
  const isMined = computeCreate2Address(deterministicDeployer, checkedInSalt, codeHash).startsWith(
    `0x${"00".repeat(hubZeroBytes)}`,
  );
  return isMined ? checkedInSalt : mineSalt(deterministicDeployer, codeHash, hubZeroBytes);
}

function renderHubFile(hub: Compiled, salt: Hex): string {
  const hubAddress = computeCreate2Address(deterministicDeployer, salt, keccak256(hub.creationCode));
  const creationCode = buildCloneCreationCode(hubAddress);
  const cloneCodeHash = keccak256(creationCode);
  const words = [`0x${creationCode.slice(2, 66)}`, `0x${creationCode.slice(66).padEnd(64, "0")}`] as const;
  return [
    fileHeader,
    'import type { Hex } from "./hex.ts";\n',
    "/** Number of the hub below; it stands in `inboxTerms.version` on the wire. */",
    "export const inboxVersion = 2;\n",
    "/** The contract that stands at this address on almost every EVM chain and creates by CREATE2. */",
    `export const deterministicDeployer: Hex = "${deterministicDeployer}";\n`,
    `/** Salt of the hub at the deterministic deployer: the lowest number for an address that begins with ${hubZeroBytes} zero bytes. */`,
    `export const hubSalt: Hex = "${salt}";\n`,
    "/** Address of the hub, the same on every EVM chain. */",
    `export const hubAddress: Hex = "${hubAddress}";\n`,
    "/** Address of the code that every inbox delegates to: the hub itself. */",
    `export const implementationAddress: Hex = "${hubAddress}";\n`,
    "/** Keccak-256 of the code that creates an inbox. */",
    `export const cloneCreationCodeHash: Hex = "${cloneCodeHash}";\n`,
    "/** Keccak-256 of the code that stands at the hub's address once it is there. */",
    `export const hubCodeHash: Hex = "${keccak256(linkImmutables(hub.deployed, [hubAddress, ...words, cloneCodeHash]))}";\n`,
  ].join("\n");
}

function renderCodeFile(hub: Compiled): string {
  return [
    fileHeader,
    'import type { Hex } from "./hex.ts";\n',
    "/** Creation code of the hub, without constructor arguments. */",
    `export const hubCreationCode: Hex =\n  "${hub.creationCode}";\n`,
    "/** Keccak-256 of the creation code. */",
    `export const hubCreationCodeHash: Hex = "${keccak256(hub.creationCode)}";\n`,
  ].join("\n");
}

function cctpV2AdapterFile(adapter: Compiled): string {
  const salt = keccak256(stringToHex(cctpV2AdapterSaltText));
  const address = computeCreate2Address(deterministicDeployer, salt, keccak256(adapter.creationCode));
  return [
    fileHeader,
    'import type { Hex } from "./hex.ts";\n',
    `/** Salt of the adapter at the deterministic deployer: keccak256("${cctpV2AdapterSaltText}"). */`,
    `export const cctpV2AdapterSalt: Hex = "${salt}";\n`,
    "/** Address of the adapter, the same on every EVM chain. */",
    `export const cctpV2AdapterAddress: Hex = "${address}";\n`,
    "/** Creation code of the adapter, without constructor arguments. */",
    `export const cctpV2AdapterCreationCode: Hex =\n  "${adapter.creationCode}";\n`,
  ].join("\n");
}

function renderAbiFile(hub: Abi, others: Abi): string {
  // A failed item of a batch is reported by its error selector, and an adapter's error passes through the hub
  // unchanged. The ABI therefore includes the errors of both.
  const known = new Set(hub.map((item) => JSON.stringify(item)));
  const errors = others.filter((item) => item.type === "error" && !known.has(JSON.stringify(item)));
  return `${fileHeader}\n/** ABI of the hub, with the errors of an inbox and of the adapters. */\nexport const hubAbi = ${JSON.stringify([...hub, ...errors], undefined, 2)} as const;\n`;
}

if (import.meta.main) {
  for (const [name, content] of await buildArtifacts()) await writeFile(generatedPath(name), content);
}
