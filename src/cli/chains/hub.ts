import { deterministicDeployer, hubAddress, hubCodeHash, hubSalt } from "@tributary/inbox/hub";
import { hubCreationCode } from "@tributary/inbox/hubCode";
import {
  BaseError,
  concat,
  createPublicClient,
  createWalletClient,
  defineChain,
  http,
  keccak256,
  type Hex,
  type PublicClient,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { formatUnits } from "../../kernel/units.ts";
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
  summary: "Deploy the inbox hub on configured chains without one; its address is the same on every chain",
  positionals: [],
  options: {
    config: { value: "FILE", summary: "configuration file; default TRIBUTARY_CONFIG" },
    chain: { value: "CHAIN", summary: `only this chain: ${CHAIN_NAME_FORMS}` },
  },
  examples: ["tributary hub deploy --config config/testnets.json --chain base-sepolia"],
  run: runDeploy,
};

const HUB_OPTIONS = hubDeploy.options;

export const hubStatus: Command = {
  name: "hub status",
  summary: "Show which configured chains have the inbox hub, and compare its code with this release; change nothing",
  positionals: [],
  options: HUB_OPTIONS,
  examples: ["tributary hub status --config config/testnets.json"],
  run: runStatus,
};

type HubStatus = "present" | "absent" | "foreign" | "impossible" | "outdated" | "unreachable";

const STATUS_TEXTS: Readonly<Record<HubStatus, string>> = {
  present: "deployed, with the code of this release",
  absent: "missing: deploy it with `tributary hub deploy`",
  foreign: "DIFFERENT CODE at its address: remove this chain from the configuration",
  impossible: "missing, and so is the deterministic deployer: remove this chain from the configuration",
  outdated: "missing, and so is transient storage (the hard fork Cancun): remove this chain from the configuration",
  unreachable: "unknown: the chain does not answer",
};

async function runStatus(input: CommandInput): Promise<number> {
  const { terminal, asJson } = input;
  const hubs = await Promise.all(
    selectChains(input).map(async ({ caip2, name, rpcUrls }) => {
      const { hub, codeHash } = await readHubStatus(rpcUrls);
      return { chain: caip2, name, address: hubAddress, hub, codeHash };
    }),
  );
  if (asJson) terminal.out(toJson(hubs));
  else {
    terminal.out(`hub ${hubAddress}, code ${hubCodeHash}`);
    const width = Math.max(...hubs.map(({ name }) => name.length));
    for (const { name, hub } of hubs) {
      const mark = hub === "present" ? terminal.paint("green", "✓") : terminal.paint("red", "✗");
      terminal.out(`${mark} ${name.padEnd(width)}  ${STATUS_TEXTS[hub]}`);
    }
  }
  return hubs.every(({ hub }) => hub === "present") ? 0 : 1;
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
    if (deployer === undefined) return { hub: "impossible", codeHash: null };
    return { hub: (await hasTransientStorage(reader)) ? "absent" : "outdated", codeHash: null };
  } catch {
    return { hub: "unreachable", codeHash: null };
  }
}

/** TSTORE of 0 at slot 0, then the end: valid since the hard fork Cancun. */
const TSTORE_CODE = "0x5f5f5d00";
const INVALID_OPCODE = /invalid opcode|bad ?instruction|invalid_operation|NotActivated|OpcodeNotFound/i;

/** Executes TSTORE as the creation code of a contract. True also where the node refuses such calls. */
async function hasTransientStorage(reader: Pick<PublicClient, "call">): Promise<boolean> {
  try {
    await reader.call({ data: TSTORE_CODE });
    return true;
  } catch (error) {
    return !(error instanceof BaseError && INVALID_OPCODE.test(error.message));
  }
}

type HubDeployment = { chain: string; address: string; outcome: "deployed" | "present"; txHash: string | null };

async function runDeploy(input: CommandInput): Promise<number> {
  const { terminal, asJson } = input;
  const deployments: HubDeployment[] = [];
  for (const chain of selectChains(input)) {
    const deployment = await ensureHub(chain, (line) => terminal.note(line));
    deployments.push(deployment);
    if (asJson) continue;
    const outcome = deployment.outcome === "present" ? "was already deployed" : `was deployed by ${deployment.txHash}`;
    terminal.out(`${chain.name}: the hub ${hubAddress} ${outcome}`);
  }
  if (asJson) terminal.out(toJson(deployments));
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

async function ensureHub(chain: ChainConfig, note: (line: string) => void): Promise<HubDeployment> {
  const location = { chain: chain.caip2, address: hubAddress };
  const { hub } = await readHubStatus(chain.rpcUrls);
  switch (hub) {
    case "present":
      return { ...location, outcome: "present", txHash: null };
    case "absent":
      return {
        ...location,
        outcome: "deployed",
        txHash: await withChainError(sendHubDeployment(chain, note), `The hub was not deployed on ${chain.name}`),
      };
    case "unreachable":
      throw new CommandError(`${chain.name} does not answer, so its hub cannot be checked.`);
    case "foreign":
      throw new CommandError(`${chain.name} has different code at ${hubAddress}: remove the chain.`);
    case "outdated":
      throw new CommandError(
        `${chain.name} lacks transient storage (EIP-1153), which the hub needs: the chain must have the hard fork Cancun. Remove the chain.`,
      );
    case "impossible":
      throw new CommandError(
        `${chain.name} has no deterministic deployer at ${deterministicDeployer}, so the hub cannot be deployed at its address: remove the chain.`,
      );
  }
}

async function sendHubDeployment(chain: ChainConfig, note: (line: string) => void): Promise<string> {
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
  const call = { to: deterministicDeployer, data: concat([hubSalt, hubCreationCode]) };
  const { account } = wallet;
  const [gas, fees, balance] = await Promise.all([
    reader.estimateGas({ account, ...call }),
    reader.estimateFeesPerGas(),
    reader.getBalance({ address: account.address }),
  ]);
  const costMax = gas * fees.maxFeePerGas;
  const format = (wei: bigint) => `${formatUnits(wei, chain.native.decimals)} ${chain.native.symbol}`;
  note(`${chain.name}: the deployment costs at most ${format(costMax)}; ${account.address} has ${format(balance)}.`);
  if (balance < costMax)
    throw new CommandError(`The hub was not deployed on ${chain.name}: the gas account cannot pay for it.`);
  const txHash = await wallet.sendTransaction(call);
  await reader.waitForTransactionReceipt({ hash: txHash });
  if ((await reader.getCode({ address: hubAddress })) === undefined)
    throw new CommandError(`Transaction ${txHash} was mined, but ${hubAddress} has no code.`);
  return txHash;
}
