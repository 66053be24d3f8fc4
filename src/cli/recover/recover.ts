import type { VerifiedInbox } from "@tributary/recover/parseInboxes";
import type { ParsedIntents } from "@tributary/recover/parseIntents";
import { createPatientRequester } from "@tributary/recover/rpc/patientRequester";
import { JsonRpcClient } from "../../chain/rpc/jsonRpcClient.ts";
import { systemTimer } from "../../kernel/clock.ts";
import type { CommandInput } from "../command.ts";
import { CommandError, UsageError } from "../../operator/errors.ts";
import { parseIntentFile, readFileText, readRpcUrls } from "./recoverInput.ts";
import { recoverOnEvm } from "./recoverOnEvm.ts";
import type { ChainAccess } from "./recoverOptions.ts";
import { formatSolanaBurns } from "../solana/burned.ts";
import { readSolanaOptions, recoverOnSolana, toSolanaOutput, type SolanaRecovery } from "../solana/recover.ts";
import { toJson, type Terminal } from "../../operator/process/terminal.ts";

const RPC_MS_MAX = 30_000;
const CONNECTIONS_MAX = 8;

/** Terms of a Solana inbox are of one of these kinds. */
const SOLANA_TERMS = /"kind"\s*:\s*"(?:pay|hop)"/;
const EVM_OPTIONS = ["token", "from-block", "max-fee-gwei", "fast"] as const;

export async function runRecover(input: CommandInput): Promise<number> {
  const { positionals, values, terminal } = input;
  const urls = readRpcUrls(values["rpc"]);
  const file = positionals[0] ?? "-";
  const text = readFileText(file);
  const withRpc = openChains(terminal);
  const clusters = SOLANA_TERMS.test(text) ? await findClusters(urls, withRpc) : [];
  const evmUrls = urls.filter((url) => !clusters.includes(url));
  if (clusters.length > 0) checkOptions(input, evmUrls.length > 0);
  const intents = parseIntentFile(file, text);
  for (const reason of intents.refused) terminal.note(`Left out of ${file}: ${reason}`);
  const exitCodes = [intents.refused.length > 0 ? 1 : 0];
  const onSolana: SolanaRecovery[] = [];
  for (const url of clusters) {
    const recovery = withRpc(url, (request, host) => recoverOnSolana(input, { intents, file, request, host }));
    onSolana.push(await recovery);
  }
  if (onSolana.some(({ failures }) => failures.length > 0)) exitCodes.push(1);
  const burns = onSolana.flatMap(({ burned }) => burned);
  const output: object[] = onSolana.map(toSolanaOutput);
  if (evmUrls.length > 0) {
    const inboxes = requireEvmInboxes(file, intents);
    const onEvm = await recoverOnEvm(input, { urls: evmUrls, withRpc }, { file, inboxes, burns });
    exitCodes.push(onEvm.exitCode);
    output.push(...onEvm.output);
  }
  const lines = evmUrls.length > 0 ? [] : formatSolanaBurns(burns, { intents, file });
  if (input.asJson) terminal.out(toJson(output));
  else for (const line of lines) terminal.out(line);
  return Math.max(...exitCodes);
}

/** Throws UsageError for options that the chains do not have. */
function checkOptions(input: CommandInput, hasEvmChains: boolean): void {
  const { values, flags } = input;
  const isReceiving = values["receive"] !== undefined || values["message"] !== undefined;
  const isSending = isReceiving || ["settle", "bridge", "rescue"].some((way) => flags.has(way));
  if (hasEvmChains && isSending)
    throw new UsageError("--rpc names both kinds of chains, whose keys differ: send on one kind at a time.");
  if (hasEvmChains) return;
  readSolanaOptions(input);
  const misplaced = EVM_OPTIONS.find((option) => values[option] !== undefined || flags.has(option));
  if (misplaced !== undefined)
    throw new UsageError(`--${misplaced} is for EVM chains, and --rpc names a Solana cluster.`);
}

function requireEvmInboxes(file: string, { onEvm, onSolana }: ParsedIntents): readonly VerifiedInbox[] {
  if (onEvm.length > 0) return onEvm;
  throw new CommandError(
    `${file}: none of its ${onSolana.length} inboxes is on an EVM chain, and no URL of --rpc answers as a Solana cluster.`,
  );
}

type WithRpc = ChainAccess["withRpc"];

/** The URLs of Solana clusters. One that does not answer is no cluster here, and fails later. */
async function findClusters(urls: readonly string[], withRpc: WithRpc): Promise<string[]> {
  const areClusters = await Promise.all(
    urls.map((url) =>
      withRpc(url, async (request) => (await request("getGenesisHash", []).catch(() => undefined)) !== undefined),
    ),
  );
  return urls.filter((_url, index) => areClusters[index]);
}

/** Opens providers, which may ration requests. */
function openChains(terminal: Terminal): WithRpc {
  return async (url, run) => {
    const rpc = new JsonRpcClient({ url, timeoutMs: RPC_MS_MAX, connectionsMax: CONNECTIONS_MAX });
    const request = createPatientRequester((method, params) => rpc.request(method, params), {
      sleep: (ms) => systemTimer.sleep(ms),
      onPause: (ms) => terminal.progress(`${rpc.host} refuses requests for now: waiting ${ms / 1_000} s`),
    });
    try {
      return await run(request, rpc.host);
    } finally {
      await rpc.close();
    }
  };
}
