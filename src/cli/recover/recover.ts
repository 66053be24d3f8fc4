import { inspectChain, type RpcRequester } from "@tributary/recover/inspectChain";
import { JsonRpcClient } from "../../chain/evm/rpc/jsonRpcClient.ts";
import type { Command, CommandInput } from "../command.ts";
import { UsageError } from "../../operator/errors.ts";
import { recoverOnChain, type RecoverRequest } from "./recoverOnChain.ts";
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
  summary:
    "Show what inboxes hold, and settle or rescue it, with only their terms and an RPC URL: no server, no database",
  positionals: [
    {
      name: "file",
      summary: "intents as the API answered them, or their inboxTerms: JSON or one a line; - reads standard input",
    },
  ],
  options: {
    rpc: { value: "URLS", summary: "a JSON-RPC URL of each chain to look at, with commas between them" },
    settle: { summary: "send what can be settled to the pinned payouts; any key with gas money will do" },
    rescue: { summary: "take out what only the recovery address may take; needs its key" },
    to: { value: "ADDRESS", summary: "where rescued money goes; the payout wallet when left out" },
    token: {
      value: "ADDRESSES",
      summary: "only these tokens, looked at even when the chain's past does not show them",
    },
    "from-block": { value: "NUMBER", summary: "search for tokens from this block on; the first when left out" },
    "key-file": { value: "FILE", summary: "file with the private key that sends; TRIBUTARY_RECOVER_KEY when left out" },
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
  const request = readRecoverRequest(input);
  const key = request.settle || request.rescue ? readPrivateKey(input) : undefined;
  const fromBlock = readFromBlock(values["from-block"]);
  const inboxes = readInboxes(positionals[0] ?? "-");
  const show = (lines: readonly string[]) => lines.forEach((line) => asJson || terminal.out(line));
  show(formatInboxes(inboxes, terminal));
  const results: ChainRecovery[] = [];
  for (const url of urls) {
    const rpc = new JsonRpcClient({ url, timeoutMs: RPC_MS_MAX, connectionsMax: CONNECTIONS_MAX });
    const ask: RpcRequester = (method, params) => rpc.request(method, params);
    try {
      const onProgress = (done: number, total: number) =>
        terminal.progress(`${rpc.host}: ${done} of ${total} balances`);
      const pendingScan = inspectChain(ask, inboxes, { tokens: request.tokens, fromBlock, onProgress });
      const sight = await withChainError(pendingScan, `${rpc.host} does not answer`);
      show(formatHoldings(sight, request, terminal));
      const context = key && { ask, wallet: await createWallet(ask, key), note: (line: string) => terminal.note(line) };
      const acts = context === undefined ? [] : await recoverOnChain(sight, request, context);
      show(formatTransactions({ sight, acts }, terminal));
      results.push({ sight, acts });
    } finally {
      await rpc.close();
    }
  }
  if (asJson) terminal.out(toJson(results.map(toRecoverOutput)));
  return 0;
}

function readRecoverRequest({ values, flags }: CommandInput): RecoverRequest {
  const to = values["to"] === undefined ? undefined : readAddress(values["to"], "to");
  if (to !== undefined && !flags.has("rescue"))
    throw new UsageError("--to goes with --rescue: settled money reaches the pinned payout and nothing else.");
  const tokens = readAddresses(values["token"], "token");
  return { settle: flags.has("settle"), rescue: flags.has("rescue"), tokens, to };
}
