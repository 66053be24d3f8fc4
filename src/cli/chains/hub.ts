import { deterministicDeployer, hubAddress, hubCodeHash, hubSalt } from "@tributary/inbox/hub";
import { hubCreationCode } from "@tributary/inbox/hubCode";
import { concat, createPublicClient, createWalletClient, defineChain, http, keccak256, type Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import type { ChainConfig } from "../../config/config.ts";
import { CHAIN_NAME_FORMS, findChainByName, unknownChainMessage } from "../../config/chainName.ts";
import type { Command, CommandInput } from "../command.ts";
import { CommandError } from "../../operator/errors.ts";
import { loadConfig } from "../../config/loadConfig.ts";
import { resolveConfigFile } from "../operatorClient.ts";
import { toJson } from "../../operator/process/terminal.ts";
import { withChainError } from "../../operator/client/withChainError.ts";

export const hubDeploy: Command = {
  name: "hub deploy",
  summary: "Put the inbox hub onto the configured chains where it is missing; its address is the same on all of them",
  positionals: [],
  options: {
    config: { value: "FILE", summary: "the configuration file; TRIBUTARY_CONFIG when left out" },
    chain: { value: "CHAIN", summary: `only this one: ${CHAIN_NAME_FORMS}` },
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

type HubStatus = "present" | "absent" | "foreign" | "impossible" | "unreachable";

const STATUS_TEXTS: Readonly<Record<HubStatus, string>> = {
  present: "stands, with the code of this release",
  absent: "is missing: `tributary hub deploy` puts it there",
  foreign: "has OTHER code at its address: this chain must not be offered",
  impossible: "is missing, and so is the deterministic deployer: this chain cannot be offered",
  unreachable: "was not found out: the chain does not answer",
};

async function runStatus(input: CommandInput): Promise<number> {
  const { terminal, asJson } = input;
  const found = await Promise.all(
    selectChains(input).map(async ({ caip2, name, rpcUrls }) => {
      const { hub, codeHash } = await readHubStatus(rpcUrls);
      return { chain: caip2, name, address: hubAddress, hub, codeHash };
    }),
  );
  if (asJson) terminal.out(toJson(found));
  else {
    terminal.out(`hub ${hubAddress}, code ${hubCodeHash}`);
    const width = Math.max(...found.map(({ name }) => name.length));
    for (const { name, hub } of found) {
      const mark = hub === "present" ? terminal.paint("green", "✓") : terminal.paint("red", "✗");
      terminal.out(`${mark} ${name.padEnd(width)}  ${STATUS_TEXTS[hub]}`);
    }
  }
  return found.every(({ hub }) => hub === "present") ? 0 : 1;
}

async function readHubStatus([rpcUrl = ""]: readonly string[]): Promise<{ hub: HubStatus; codeHash: Hex | null }> {
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

type HubDeployment = { chain: string; address: string; outcome: "deployed" | "present"; txHash: string | null };

async function runDeploy(input: CommandInput): Promise<number> {
  const { terminal, asJson } = input;
  const deployed: HubDeployment[] = [];
  for (const chain of selectChains(input)) {
    const one = await ensureHub(chain);
    deployed.push(one);
    if (asJson) continue;
    const how = one.outcome === "present" ? "is there already" : `is put there by ${one.txHash}`;
    terminal.out(`${chain.name}: the hub ${hubAddress} ${how}`);
  }
  if (asJson) terminal.out(toJson(deployed));
  return 0;
}

function selectChains(input: CommandInput): readonly ChainConfig[] {
  const { chains } = loadConfig(resolveConfigFile(input), input.environment);
  const typed = input.values["chain"];
  if (typed === undefined) return chains;
  const chosen = findChainByName(chains, typed);
  if (chosen === undefined) throw new CommandError(unknownChainMessage(chains, typed));
  return [chosen];
}

async function ensureHub(chain: ChainConfig): Promise<HubDeployment> {
  const outcome = { chain: chain.caip2, address: hubAddress };
  const { hub } = await readHubStatus(chain.rpcUrls);
  switch (hub) {
    case "present":
      return { ...outcome, outcome: "present", txHash: null };
    case "absent":
      return {
        ...outcome,
        outcome: "deployed",
        txHash: await withChainError(sendHubDeployment(chain), `${chain.name} has no hub yet`),
      };
    case "unreachable":
      throw new CommandError(`${chain.name} does not answer, so nobody knows whether the hub stands there.`);
    case "foreign":
      throw new CommandError(`${chain.name} has other code at ${hubAddress}: do not offer this chain.`);
    case "impossible":
      throw new CommandError(
        `${chain.name} lacks the deterministic deployer ${deterministicDeployer}, so the hub cannot have its address there.`,
      );
  }
}

async function sendHubDeployment(chain: ChainConfig): Promise<string> {
  const [rpcUrl = ""] = chain.rpcUrls;
  const transport = http(rpcUrl);
  const reader = createPublicClient({ transport, pollingInterval: chain.pollMs });
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
  if ((await reader.getCode({ address: hubAddress })) === undefined)
    throw new CommandError(`${txHash} did not put the hub to ${hubAddress}.`);
  return txHash;
}
