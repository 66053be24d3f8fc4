import type { VerifiedInbox } from "@tributary/recover/parseInboxes";
import type { ParsedIntents } from "@tributary/recover/parseIntents";
import { createPatientRequester } from "@tributary/recover/rpc/patientRequester";
import { JsonRpcClient } from "../../chain/rpc/jsonRpcClient.ts";
import { systemTimer } from "../../kernel/clock.ts";
import type { Command, CommandInput } from "../command.ts";
import { CommandError, UsageError } from "../../operator/errors.ts";
import { parseIntentFile, readFileText, readRpcUrls } from "./recoverInput.ts";
import { recoverOnEvm } from "./recoverOnEvm.ts";
import type { ChainAccess } from "./recoverOptions.ts";
import { formatSolanaBurns } from "../solana/burned.ts";
import { readSolanaOptions, recoverOnSolana, toSolanaOutput, type SolanaRecovery } from "../solana/recover.ts";
import { toJson, type Terminal } from "../../operator/process/terminal.ts";

export const recover: Command = {
  name: "recover",
  summary: "Show the balances of inboxes, and settle, bridge or rescue them, with only their terms and an RPC URL",
  positionals: [
    {
      name: "file",
      summary: "intents as the API returned them, or their inboxTerms, as JSON or JSON lines; - reads standard input",
    },
  ],
  options: {
    rpc: { value: "URLS", summary: "JSON-RPC URLs, one for each chain, separated by commas" },
    settle: { summary: "settle inboxes to their payout wallets; any key with gas money works" },
    bridge: {
      summary:
        "send USDC that is paid out on another chain there, to the intent's own inbox; any key with gas money works",
    },
    fast: { summary: "bridge in seconds for a fee, instead of waiting until the chain is final" },
    receive: {
      value: "HASHES",
      summary: "on the payout's chain: receive what these transactions bridged, and settle it; any key works",
    },
    message: { value: "HEX", summary: "receive this message of the attestation service, without asking it" },
    attestation: { value: "HEX", summary: "signature of --message" },
    rescue: { summary: "withdraw what only the recovery address may withdraw; needs its key" },
    to: {
      value: "ADDRESS",
      summary:
        "wallet that receives what is rescued; default the payout wallet, on other chains and on Solana the sender",
    },
    token: {
      value: "ADDRESSES",
      summary: "recover only these tokens, even if the search does not find them; separated by commas",
    },
    "from-block": { value: "NUMBER", summary: "first block of the search for tokens; default 0" },
    "max-fee-gwei": {
      value: "GWEI",
      summary: "highest gas price of a transaction; default the network's, which is 500 on an unknown one",
    },
    "attestation-url": { value: "URL", summary: "attestation service; default Circle's of the network" },
    bridges: { value: "FILE", summary: "Circle's contracts on chains that this release does not know, as JSON" },
    program: { value: "ADDRESS", summary: "on Solana: the inbox program of a cluster without a published one" },
    "key-file": {
      value: "FILE",
      summary: "the sender's private key, default TRIBUTARY_RECOVER_KEY; on Solana as solana-keygen writes it",
    },
  },
  examples: [
    "tributary recover intent.json --rpc https://mainnet.base.org",
    "tributary recover intents.jsonl --rpc https://mainnet.base.org --settle --key-file gas.key",
    "tributary recover intent.json --rpc https://arb1.arbitrum.io/rpc --bridge --key-file gas.key",
    "tributary recover intent.json --rpc https://mainnet.base.org --receive 0x5e1d…c0de --key-file gas.key",
    "tributary recover intent.json --rpc https://mainnet.optimism.io --rescue --key-file recovery.key",
    "tributary recover intent.json --rpc https://api.mainnet-beta.solana.com --settle --key-file fees.json",
  ],
  run: runRecover,
};

const RPC_MS_MAX = 30_000;
const CONNECTIONS_MAX = 8;

/** Terms of a Solana inbox are of one of these kinds. */
const SOLANA_TERMS = /"kind"\s*:\s*"(?:pay|hop)"/;
const EVM_OPTIONS = [
  "token",
  "from-block",
  "max-fee-gwei",
  "fast",
  "receive",
  "message",
  "attestation",
  "attestation-url",
] as const;

async function runRecover(input: CommandInput): Promise<number> {
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
  const isSending = ["settle", "bridge", "rescue"].some((way) => flags.has(way));
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
