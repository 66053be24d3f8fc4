import { writeFileSync } from "node:fs";
import { recordProvider, type RecordedProvider } from "../../chain/evm/network/recordShapes.ts";
import { JsonRpcClient } from "../../chain/rpc/jsonRpcClient.ts";
import { ProviderFailed } from "../../chain/reader.ts";
import { loadConfig } from "../../config/loadConfig.ts";
import { isEvmChainConfig } from "../../config/config.ts";
import { findRpcFamily } from "../../config/networks/rpcFamilies.ts";
import { productVersion } from "../../config/operate/productVersion.ts";
import type { Finding } from "../../operator/doctor/finding.ts";
import { CommandError } from "../../operator/errors.ts";
import { toJson } from "../../operator/process/terminal.ts";
import type { CommandInput } from "../command.ts";
import { resolveConfigFile } from "../operatorClient.ts";

const TIMEOUT_MS = 30_000;

type Recorded = { chain: string; provider: string } & (RecordedProvider | { failure: string });

/** `doctor --record`: writes what the configured providers answer as shapes, and compares them with what is known. */
export async function recordProviders(input: CommandInput, file: string): Promise<Finding[]> {
  const config = loadConfig(resolveConfigFile(input), input.environment, { keys: "optional" });
  const chains = config.chains.filter(isEvmChainConfig);
  if (chains.length === 0) throw new CommandError("No chain of the configuration is an EVM chain.");
  const recorded: Recorded[] = [];
  const findings: Finding[] = [];
  for (const { caip2, name, rpcUrls } of chains)
    for (const [index, url] of rpcUrls.entries()) {
      const provider = `${index + 1} of ${rpcUrls.length}, ${findRpcFamily(new URL(url).hostname)?.name ?? "no known family"}`;
      const answer = await recordUrl(url);
      recorded.push({ chain: caip2, provider, ...answer });
      findings.push(...toFindings(`${name}: provider ${provider}`, answer));
    }
  writeFileSync(file, `${toJson({ release: productVersion(), recorded })}\n`);
  return [...findings, { what: "written", verdict: "ok", found: `${file}: shapes alone, without addresses and keys` }];
}

async function recordUrl(url: string): Promise<RecordedProvider | { failure: string }> {
  const rpc = new JsonRpcClient({ url, timeoutMs: TIMEOUT_MS, connectionsMax: 1 });
  try {
    return await recordProvider(rpc);
  } catch (error) {
    if (!(error instanceof ProviderFailed)) throw error;
    return { failure: error.message.replace(rpc.host, "host") };
  } finally {
    await rpc.close();
  }
}

function toFindings(what: string, answer: RecordedProvider | { failure: string }): Finding[] {
  if ("failure" in answer) return [{ what, verdict: "fail", found: answer.failure }];
  if (answer.differs.length === 0)
    return [{ what, verdict: "ok", found: `${answer.answers.length} answers as this release knows them` }];
  return answer.differs.map((found): Finding => ({ what, verdict: "warn", found }));
}
