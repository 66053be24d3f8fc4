import { deterministicDeployer, hubAddress, hubCodeHash, hubSalt } from "@tributary/inbox/hub";
import { hubCreationCode } from "@tributary/inbox/hubCode";
import { quoteFees } from "@tributary/recover/gasPrice";
import type { RpcRequester } from "@tributary/recover/rpc/rpcRequester";
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
import { isEvmChainConfig, type EvmChainConfig, type SolanaProgramConfig } from "../../config/config.ts";
import { findChainByName, unknownChainMessage } from "../../config/chainName.ts";
import type { CommandInput } from "../command.ts";
import { CommandError } from "../../operator/errors.ts";
import { loadConfig } from "../../config/loadConfig.ts";
import { resolveConfigFile } from "../operatorClient.ts";
import {
  deployProgram,
  PROGRAM_TEXTS,
  readConfiguredProgram,
  showProgram,
  type ProgramDeployment,
} from "../solana/program.ts";
import { readRpcUrl } from "../solana/rpcUrl.ts";
import { toJson } from "../../operator/process/terminal.ts";
import { withChainError } from "../../operator/client/withChainError.ts";

type HubStatus = "present" | "absent" | "foreign" | "impossible" | "outdated" | "unreachable";

const STATUS_TEXTS: Readonly<Record<HubStatus, string>> = {
  present: "deployed, with the code of this release",
  absent: "missing: deploy it with `tributary hub deploy`",
  foreign: "DIFFERENT CODE at its address: remove this chain from the configuration",
  impossible: "missing, and so is the deterministic deployer: remove this chain from the configuration",
  outdated: "missing, and so is transient storage (the hard fork Cancun): remove this chain from the configuration",
  unreachable: "unknown: the chain does not answer",
};

export async function showHubs(input: CommandInput): Promise<number> {
  if (input.values["rpc"] !== undefined) return showProgram(input);
  const { terminal, asJson } = input;
  const { chains, programs } = selectChains(input);
  const hubs = await Promise.all(
    chains.map(async ({ caip2, name, rpcUrls }) => {
      const { hub, codeHash } = await readHubStatus(rpcUrls);
      return { chain: caip2, name, address: hubAddress, hub, codeHash };
    }),
  );
  const found = await Promise.all(
    programs.map(async (program) => {
      const { caip2, name, address } = program;
      return { chain: caip2, name, address, program: await readConfiguredProgram(program) };
    }),
  );
  const rows = [
    ...hubs.map(({ name, hub }) => ({ name, isPresent: hub === "present", text: STATUS_TEXTS[hub] })),
    ...found.map(({ name, address, program }) => ({
      name,
      isPresent: program === "present",
      text: `program ${address}: ${program === "unreachable" ? STATUS_TEXTS.unreachable : PROGRAM_TEXTS[program]}`,
    })),
  ];
  if (asJson) terminal.out(toJson([...hubs, ...found]));
  else {
    if (hubs.length > 0) terminal.out(`hub ${hubAddress}, code ${hubCodeHash}`);
    const width = Math.max(...rows.map(({ name }) => name.length));
    for (const { name, isPresent, text } of rows) {
      const mark = isPresent ? terminal.paint("green", "✓") : terminal.paint("red", "✗");
      terminal.out(`${mark} ${name.padEnd(width)}  ${text}`);
    }
  }
  return rows.every(({ isPresent }) => isPresent) ? 0 : 1;
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

export async function deployHubs(input: CommandInput): Promise<number> {
  const { values, terminal, asJson } = input;
  const { chains, programs } = values["rpc"] === undefined ? selectChains(input) : { chains: [], programs: [] };
  const deployments: (HubDeployment | ProgramDeployment)[] = [];
  const show = (deployment: HubDeployment | ProgramDeployment, line: string) => {
    deployments.push(deployment);
    if (!asJson) terminal.out(line);
  };
  for (const chain of chains) {
    const deployment = await ensureHub(chain, (line) => terminal.note(line));
    const outcome = deployment.outcome === "present" ? "was already deployed" : `was deployed by ${deployment.txHash}`;
    show(deployment, `${chain.name}: the hub ${hubAddress} ${outcome}`);
  }
  const hasKeys = values["key-file"] !== undefined && values["program-key"] !== undefined;
  const clusters =
    values["rpc"] === undefined
      ? programs.map(({ rpcUrl, address }) => ({ rpcUrl, expected: address }))
      : [{ rpcUrl: readRpcUrl(values["rpc"]) }];
  if (clusters.length > 0 && chains.length > 0 && !hasKeys)
    terminal.note("The inbox program of Solana was left out: it needs --key-file and --program-key.");
  else
    for (const cluster of clusters) {
      const deployment = await deployProgram(input, cluster);
      const outcome = deployment.outcome === "present" ? "was already deployed" : "is deployed and final";
      show(deployment, `${deployment.program}: ${outcome}`);
    }
  if (asJson) terminal.out(toJson(deployments));
  return 0;
}

type Selection = { chains: readonly EvmChainConfig[]; programs: readonly SolanaProgramConfig[] };

/** The configured EVM chains, and the Solana clusters whose program is compared. */
function selectChains(input: CommandInput): Selection {
  const config = loadConfig(resolveConfigFile(input), input.environment);
  const { solanaChains = [], solanaPrograms = [] } = config;
  const chains = config.chains.filter(isEvmChainConfig);
  const typed = input.values["chain"];
  if (typed === undefined) return { chains, programs: solanaPrograms };
  const knownChains = [...config.chains, ...solanaChains];
  const chosen = findChainByName(knownChains, typed);
  if (chosen === undefined) throw new CommandError(unknownChainMessage(knownChains, typed));
  const selection = {
    chains: chains.filter(({ caip2 }) => caip2 === chosen.caip2),
    programs: solanaPrograms.filter(({ caip2 }) => caip2 === chosen.caip2),
  };
  if (selection.chains.length + selection.programs.length > 0) return selection;
  throw new CommandError(`${chosen.name} has no rpcUrl in the configuration: name one there, or use --rpc.`);
}

async function ensureHub(chain: EvmChainConfig, note: (line: string) => void): Promise<HubDeployment> {
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

async function sendHubDeployment(chain: EvmChainConfig, note: (line: string) => void): Promise<string> {
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
  const request: RpcRequester = (method, params) =>
    reader.request<{ Method: string; Parameters: readonly unknown[]; ReturnType: unknown }>({ method, params });
  const [gas, fees, balance] = await Promise.all([
    reader.estimateGas({ account, ...call }),
    quoteFees(request, chain.maxFeePerGas),
    reader.getBalance({ address: account.address }),
  ]);
  const costMax = gas * ("gasPrice" in fees ? fees.gasPrice : fees.maxFeePerGas);
  const format = (wei: bigint) => `${formatUnits(wei, chain.native.decimals)} ${chain.native.symbol}`;
  note(`${chain.name}: the deployment costs at most ${format(costMax)}; ${account.address} has ${format(balance)}.`);
  if (balance < costMax)
    throw new CommandError(`The hub was not deployed on ${chain.name}: the gas account cannot pay for it.`);
  const txHash = await wallet.sendTransaction({ ...call, gas, ...fees });
  await reader.waitForTransactionReceipt({ hash: txHash });
  if ((await reader.getCode({ address: hubAddress })) === undefined)
    throw new CommandError(`Transaction ${txHash} was mined, but ${hubAddress} has no code.`);
  return txHash;
}
