import { deterministicDeployer, hubAddress, hubCodeHash, hubSalt } from "@tributary/inbox/hub";
import { hubCreationCode } from "@tributary/inbox/hubCode";
import { concat, createPublicClient, createWalletClient, defineChain, http, keccak256, type Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import type { ChainConfig } from "../config.ts";
import { CommandFailed, type Command, type CommandInput } from "./command.ts";
import { loadConfig } from "./config/file.ts";
import { configFileOf } from "./operator.ts";
import { toJson } from "./terminal.ts";
import { told } from "./told.ts";

export const hubDeploy: Command = {
  name: "hub deploy",
  summary: "Put the inbox hub onto the configured chains where it is missing; its address is the same on all of them",
  positionals: [],
  options: {
    config: { value: "FILE", summary: "the configuration file; TRIBUTARY_CONFIG when left out" },
    chain: { value: "CHAIN", summary: "only this one: slug, chain id or CAIP-2" },
  },
  examples: ["tributary hub deploy --config config/testnets.json --chain base-sepolia"],
  run: runDeploy,
};

const HUB_OPTIONS = hubDeploy.options;

export const hubStatus: Command = {
  name: "hub status",
  summary:
    "Say on which configured chains the inbox hub stands, and whether its code is this release's; changes nothing",
  positionals: [],
  options: HUB_OPTIONS,
  examples: ["tributary hub status --config config/testnets.json"],
  run: runStatus,
};

type HubFound = "present" | "absent" | "foreign" | "impossible" | "unreachable";

const FOUND: Readonly<Record<HubFound, string>> = {
  present: "stands, with the code of this release",
  absent: "is missing: `tributary hub deploy` puts it there",
  foreign: "has OTHER code at its address: this chain must not be offered",
  impossible: "is missing, and so is the deterministic deployer: this chain cannot be offered",
  unreachable: "was not found out: the chain does not answer",
};

async function runStatus(input: CommandInput): Promise<number> {
  const { terminal, asJson } = input;
  const found = await Promise.all(
    chosenChains(input).map(async ({ caip2, name, rpcUrls }) => {
      const { hub, codeHash } = await findHub(rpcUrls);
      return { chain: caip2, name, address: hubAddress, hub, codeHash };
    }),
  );
  if (asJson) terminal.out(toJson(found));
  else {
    terminal.out(`hub ${hubAddress}, code ${hubCodeHash}`);
    const width = Math.max(...found.map(({ name }) => name.length));
    for (const { name, hub } of found) {
      const mark = hub === "present" ? terminal.paint("green", "✓") : terminal.paint("red", "✗");
      terminal.out(`${mark} ${name.padEnd(width)}  ${FOUND[hub]}`);
    }
  }
  return found.every(({ hub }) => hub === "present") ? 0 : 1;
}

async function findHub([rpcUrl = ""]: readonly string[]): Promise<{ hub: HubFound; codeHash: Hex | null }> {
  const reader = createPublicClient({ transport: http(rpcUrl) });
  try {
    const code = await reader.getCode({ address: hubAddress });
    if (code !== undefined) {
      const codeHash = keccak256(code);
      return { hub: codeHash === hubCodeHash ? "present" : "foreign", codeHash };
    }
    const deployer = await reader.getCode({ address: deterministicDeployer });
    return { hub: deployer === undefined ? "impossible" : "absent", codeHash: null };
  } catch {
    return { hub: "unreachable", codeHash: null };
  }
}

type Deployed = { chain: string; address: string; outcome: "deployed" | "present"; txHash: string | null };

async function runDeploy(input: CommandInput): Promise<number> {
  const { terminal, asJson } = input;
  const deployed: Deployed[] = [];
  for (const chain of chosenChains(input)) {
    const one = await told(deploy(chain), `${chain.name} has no hub yet`);
    deployed.push(one);
    if (asJson) continue;
    const how = one.outcome === "present" ? "is there already" : `is put there by ${one.txHash}`;
    terminal.out(`${chain.name}: the hub ${hubAddress} ${how}`);
  }
  if (asJson) terminal.out(toJson(deployed));
  return 0;
}

function chosenChains(input: CommandInput): ChainConfig[] {
  const { chains } = loadConfig(configFileOf(input), input.environment);
  const name = input.text["chain"];
  const chosen = chains.filter(
    ({ slug, chainId, caip2 }) => name === undefined || [slug, String(chainId), caip2].includes(name),
  );
  if (chosen.length > 0) return chosen;
  throw new CommandFailed(
    `The chain ${name} is not configured; there are ${chains.map(({ slug }) => slug).join(", ")}.`,
  );
}

async function deploy(chain: ChainConfig): Promise<Deployed> {
  const [rpcUrl = ""] = chain.rpcUrls;
  const transport = http(rpcUrl);
  const reader = createPublicClient({ transport, pollingInterval: chain.pollMs });
  const outcome = { chain: chain.caip2, address: hubAddress };
  const standing = await reader.getCode({ address: hubAddress });
  if (standing !== undefined && keccak256(standing) !== hubCodeHash)
    throw new CommandFailed(`${chain.name} has other code at ${hubAddress}: do not offer this chain.`);
  if (standing !== undefined) return { ...outcome, outcome: "present", txHash: null };
  if ((await reader.getCode({ address: deterministicDeployer })) === undefined) {
    throw new CommandFailed(
      `${chain.name} lacks the deterministic deployer ${deterministicDeployer}, so the hub cannot have its address there.`,
    );
  }
  const wallet = createWalletClient({
    account: privateKeyToAccount(chain.gasKey as Hex),
    chain: defineChain({
      id: chain.chainId,
      name: chain.name,
      nativeCurrency: chain.native,
      rpcUrls: { default: { http: [rpcUrl] } },
    }),
    transport,
  });
  const txHash = await wallet.sendTransaction({ to: deterministicDeployer, data: concat([hubSalt, hubCreationCode]) });
  await reader.waitForTransactionReceipt({ hash: txHash });
  if ((await reader.getCode({ address: hubAddress })) === undefined) {
    throw new CommandFailed(`${chain.name}: ${txHash} did not put the hub to ${hubAddress}.`);
  }
  return { ...outcome, outcome: "deployed", txHash };
}
