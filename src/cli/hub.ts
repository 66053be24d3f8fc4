import { deterministicDeployer, hubAddress, hubSalt } from "@tributary/inbox/hub";
import { hubCreationCode } from "@tributary/inbox/hubCode";
import { concat, createPublicClient, createWalletClient, defineChain, http, type Hex } from "viem";
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

type Deployed = { chain: string; address: string; outcome: "deployed" | "present"; txHash: string | null };

async function runDeploy(input: CommandInput): Promise<number> {
  const { text, environment, terminal, asJson } = input;
  const { chains } = loadConfig(configFileOf(input), environment);
  const name = text["chain"];
  const chosen = chains.filter(
    ({ slug, chainId, caip2 }) => name === undefined || [slug, String(chainId), caip2].includes(name),
  );
  if (chosen.length === 0)
    throw new CommandFailed(
      `The chain ${name} is not configured; there are ${chains.map(({ slug }) => slug).join(", ")}.`,
    );
  const deployed: Deployed[] = [];
  for (const chain of chosen) {
    const one = await told(deploy(chain), `${chain.name} has no hub yet`);
    deployed.push(one);
    if (asJson) continue;
    const how = one.outcome === "present" ? "is there already" : `is put there by ${one.txHash}`;
    terminal.out(`${chain.name}: the hub ${hubAddress} ${how}`);
  }
  if (asJson) terminal.out(toJson(deployed));
  return 0;
}

async function deploy(chain: ChainConfig): Promise<Deployed> {
  const [rpcUrl = ""] = chain.rpcUrls;
  const transport = http(rpcUrl);
  const reader = createPublicClient({ transport, pollingInterval: chain.pollMs });
  const outcome = { chain: chain.caip2, address: hubAddress };
  if ((await reader.getCode({ address: hubAddress })) !== undefined)
    return { ...outcome, outcome: "present", txHash: null };
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
