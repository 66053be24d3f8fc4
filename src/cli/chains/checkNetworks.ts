import { compareNetwork, type NetworkComparison } from "../../chain/evm/network/compareNetwork.ts";
import { openEvmNode } from "../../chain/evm/rpcNode.ts";
import { ProviderFailed } from "../../chain/reader.ts";
import { loadConfig } from "../../config/loadConfig.ts";
import { isEvmChainConfig, type Config } from "../../config/config.ts";
import { findNetwork, type Network } from "../../config/networks/network.ts";
import type { Finding } from "../../operator/doctor/finding.ts";
import { CommandError, UsageError } from "../../operator/errors.ts";
import type { CommandInput } from "../command.ts";
import { resolveConfigFile } from "../operatorClient.ts";
import { readRpcUrl } from "../solana/rpcUrl.ts";
import { resolveNetwork } from "./networks.ts";

const ALL = "all";
const VERDICTS: Readonly<Record<NetworkComparison["state"], Finding["verdict"]>> = {
  same: "ok",
  missing: "warn",
  differs: "fail",
};

/** A network, and the nodes to ask in order. */
type Asked = { network: Network; rpcUrls: readonly string[]; isConfigured: boolean };

/** `doctor --network`: compares the catalogue with chains, without a database. */
export async function checkNetworks(input: CommandInput): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const asked of readAsked(input)) findings.push(...(await checkNetwork(asked)));
  return findings;
}

function readAsked(input: CommandInput): Asked[] {
  const { values, environment } = input;
  const typed = values["network"] ?? ALL;
  const rpc = values["rpc"] === undefined ? undefined : readRpcUrl(values["rpc"]);
  const file = values["config"] ?? environment["TRIBUTARY_CONFIG"];
  if (typed !== ALL) {
    const network = resolveNetwork(typed);
    if (network.kind !== "evm")
      throw new CommandError(`${network.name} is no EVM chain: tributary hub status --rpc compares its inbox program.`);
    const configured = file ? configuredUrls(loadForChains(file, input), network) : undefined;
    return [
      { network, rpcUrls: rpc ? [rpc] : (configured ?? network.rpcUrls), isConfigured: configured !== undefined },
    ];
  }
  if (rpc !== undefined) throw new UsageError("--rpc needs the name of one network: --network base --rpc URL.");
  const config = loadForChains(resolveConfigFile(input), input);
  const asked = config.chains.flatMap(({ caip2 }): Asked[] => {
    const network = findNetwork(caip2);
    const rpcUrls = network && configuredUrls(config, network);
    return network === undefined || rpcUrls === undefined ? [] : [{ network, rpcUrls, isConfigured: true }];
  });
  if (asked.length === 0) throw new CommandError("No chain of the configuration is an EVM network of the catalogue.");
  return asked;
}

function loadForChains(file: string, { environment }: CommandInput): Config {
  return loadConfig(file, environment, { keys: "optional" });
}

function configuredUrls({ chains }: Config, { caip2 }: Network): readonly string[] | undefined {
  const chain = chains.find((each) => each.caip2 === caip2);
  return chain !== undefined && isEvmChainConfig(chain) ? chain.rpcUrls : undefined;
}

async function checkNetwork({ network, rpcUrls, isConfigured }: Asked): Promise<Finding[]> {
  const failures: string[] = [];
  for (const rpcUrl of rpcUrls) {
    const node = openEvmNode({ caip2: network.caip2, rpcUrl });
    try {
      const compared = await compareNetwork(node, network);
      return compared.map(({ field, state, text }): Finding => {
        // A configured chain without its hub cannot settle.
        const verdict = state === "missing" && isConfigured && field === "hub" ? "fail" : VERDICTS[state];
        return { what: `${network.name}: ${field}`, verdict, found: text };
      });
    } catch (error) {
      if (!(error instanceof ProviderFailed)) throw error;
      failures.push(error.message);
    }
  }
  return [{ what: `${network.name}: provider`, verdict: "fail", found: `no node answers: ${failures.join("; ")}` }];
}
