import { lookAt, type Ask } from "@tributary/recover/look";
import { Rpc } from "../chain/evm/rpc.ts";
import { UsageRefused, type Command, type CommandInput } from "./command.ts";
import { recoverOn, type Wish } from "./recover/act.ts";
import { readAddress, readAddresses, readBlock, readInboxes, readKey, readRpcUrls } from "./recover/input.ts";
import { actLines, inboxLines, resultOf, sightLines, type Recovered } from "./recover/show.ts";
import { openWallet } from "./recover/wallet.ts";
import { toJson } from "./terminal.ts";
import { told } from "./told.ts";

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
  const { positionals, text, terminal, asJson } = input;
  const urls = readRpcUrls(text["rpc"]);
  const wish = readWish(input);
  const key = wish.settle || wish.rescue ? readKey(input) : undefined;
  const fromBlock = readBlock(text["from-block"]);
  const inboxes = readInboxes(positionals[0] ?? "-");
  const show = (lines: readonly string[]) => lines.forEach((line) => asJson || terminal.out(line));
  show(inboxLines(inboxes, terminal));
  const results: Recovered[] = [];
  for (const url of urls) {
    const rpc = new Rpc({ url, timeoutMs: RPC_MS_MAX, connectionsMax: CONNECTIONS_MAX });
    const ask: Ask = (method, params) => rpc.ask(method, params);
    try {
      const onProgress = (done: number, total: number) =>
        terminal.progress(`${rpc.host}: ${done} of ${total} balances`);
      const looking = lookAt(ask, inboxes, { tokens: wish.tokens, fromBlock, onProgress });
      const sight = await told(looking, `${rpc.host} does not answer`);
      show(sightLines(sight, wish, terminal));
      const hands = key && { ask, wallet: await openWallet(ask, key), note: (line: string) => terminal.note(line) };
      const acts = hands === undefined ? [] : await recoverOn(sight, wish, hands);
      show(actLines({ sight, acts }, terminal));
      results.push({ sight, acts });
    } finally {
      await rpc.close();
    }
  }
  if (asJson) terminal.out(toJson(results.map(resultOf)));
  return 0;
}

function readWish({ text, switches }: CommandInput): Wish {
  const to = text["to"] === undefined ? undefined : readAddress(text["to"], "to");
  if (to !== undefined && !switches.has("rescue"))
    throw new UsageRefused("--to goes with --rescue: settled money reaches the pinned payout and nothing else.");
  const tokens = readAddresses(text["token"], "token");
  return { settle: switches.has("settle"), rescue: switches.has("rescue"), tokens, to };
}
