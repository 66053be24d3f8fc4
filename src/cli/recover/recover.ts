import { inspectChain, type RpcRequester } from "@tributary/recover/inspectChain";
import { JsonRpcClient } from "../../chain/evm/rpc/jsonRpcClient.ts";
import type { Command, CommandInput } from "../command.ts";
import { UsageError } from "../../operator/errors.ts";
import { recoverOnChain, reportRefusedRescues, type RecoverOptions } from "./recoverOnChain.ts";
import { readAddress, readAddresses, readFromBlock, readInboxes, readPrivateKey, readRpcUrls } from "./recoverInput.ts";
import {
  formatTransactions,
  formatInboxes,
  toRecoverOutput,
  formatHoldings,
  type ChainRecovery,
} from "./recoverOutput.ts";
import { createWallet } from "./wallet.ts";
import { toJson } from "../../operator/process/terminal.ts";
import { withChainError } from "../../operator/client/withChainError.ts";

export const recover: Command = {
  name: "recover",
  summary: "Show the balances of inboxes, and settle or rescue them, with only their terms and an RPC URL",
  positionals: [
    {
      name: "file",
      summary: "intents as the API returned them, or their inboxTerms, as JSON or JSON lines; - reads standard input",
    },
  ],
  options: {
    rpc: { value: "URLS", summary: "JSON-RPC URLs, one for each chain, separated by commas" },
    settle: { summary: "settle inboxes to their payout wallets; any key with gas money works" },
    rescue: { summary: "withdraw what only the recovery address may withdraw; needs its key" },
    to: {
      value: "ADDRESS",
      summary:
        "wallet that receives rescued tokens; default the payout wallet, on other chains than its own the sender",
    },
    token: {
      value: "ADDRESSES",
      summary: "recover only these tokens, even if the search does not find them; separated by commas",
    },
    "from-block": { value: "NUMBER", summary: "first block of the search for tokens; default 0" },
    "key-file": { value: "FILE", summary: "file with the sender's private key; default TRIBUTARY_RECOVER_KEY" },
  },
  examples: [
    "tributary recover intent.json --rpc https://mainnet.base.org",
    "tributary recover intents.jsonl --rpc https://mainnet.base.org --settle --key-file gas.key",
    "tributary recover intent.json --rpc https://mainnet.optimism.io --rescue --key-file recovery.key",
  ],
  run: runRecover,
};

const RPC_MS_MAX = 60_000;
const CONNECTIONS_MAX = 8;

async function runRecover(input: CommandInput): Promise<number> {
  const { positionals, values, terminal, asJson } = input;
  const urls = readRpcUrls(values["rpc"]);
  const options = readRecoverOptions(input);
  const key = options.settle || options.rescue ? readPrivateKey(input) : undefined;
  const fromBlock = readFromBlock(values["from-block"]);
  const inboxes = readInboxes(positionals[0] ?? "-");
  const show = (lines: readonly string[]) => lines.forEach((line) => asJson || terminal.out(line));
  show(formatInboxes(inboxes, terminal));
  const results: ChainRecovery[] = [];
  let exitCode = 0;
  for (const url of urls) {
    const rpc = new JsonRpcClient({ url, timeoutMs: RPC_MS_MAX, connectionsMax: CONNECTIONS_MAX });
    const request: RpcRequester = (method, params) => rpc.request(method, params);
    try {
      const onProgress = (done: number, total: number) =>
        terminal.progress(`${rpc.host}: ${done} of ${total} balances`);
      const pendingInspection = inspectChain(request, inboxes, { tokens: options.tokens, fromBlock, onProgress });
      const inspection = await withChainError(pendingInspection, `${rpc.host} does not answer`);
      show(formatHoldings(inspection, options, terminal));
      const note = (line: string) => terminal.note(line);
      const context = key && { request, wallet: await createWallet(request, key), note };
      const transactions = context === undefined ? [] : await recoverOnChain(inspection, options, context);
      const hasRefused = context !== undefined && options.rescue && reportRefusedRescues(inspection, options, context);
      if (hasRefused && transactions.length === 0) exitCode = 1;
      show(formatTransactions({ inspection, transactions }, terminal));
      results.push({ inspection, transactions });
    } finally {
      await rpc.close();
    }
  }
  if (asJson) terminal.out(toJson(results.map(toRecoverOutput)));
  return exitCode;
}

function readRecoverOptions({ values, flags }: CommandInput): RecoverOptions {
  const to = values["to"] === undefined ? undefined : readAddress(values["to"], "to");
  if (to !== undefined && !flags.has("rescue"))
    throw new UsageError("--to needs --rescue: --settle always pays the payout wallet of the terms.");
  const tokens = readAddresses(values["token"], "token");
  return { settle: flags.has("settle"), rescue: flags.has("rescue"), tokens, to };
}
