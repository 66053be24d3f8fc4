import { readFileSync } from "node:fs";
import { parseKey } from "@tributary/inbox/solana/keys";
import { findSolanaProgram } from "@tributary/inbox/solana/program";
import type { SolanaInstruction } from "@tributary/inbox/solana/instructions";
import { InboxInputError } from "@tributary/recover/parseInboxes";
import type { RpcRequester } from "@tributary/recover/inspectChain";
import { inspectSolana, readCluster, type SolanaHolding } from "@tributary/recover/solana/inspectSolana";
import { parseSolanaInboxes, type RecoverableInbox } from "@tributary/recover/solana/parseSolanaInboxes";
import {
  buildBridgeCalls,
  buildRescueCalls,
  buildSettleCalls,
  planSolanaRecovery,
  planSolanaRescue,
  type SolanaRecoveryPlan,
} from "@tributary/recover/solana/planSolanaRecovery";
import { sendSolanaTransaction, type SolanaSigner } from "@tributary/recover/solana/sendSolanaTransaction";
import { JsonRpcClient } from "../../chain/evm/rpc/jsonRpcClient.ts";
import { systemTimer } from "../../kernel/clock.ts";
import { withChainError } from "../../operator/client/withChainError.ts";
import { CommandError, UsageError } from "../../operator/errors.ts";
import { toJson } from "../../operator/process/terminal.ts";
import type { Command, CommandInput } from "../command.ts";
import { createSigner, readKeyFile } from "./keypair.ts";
import { readRpcUrl } from "./rpcUrl.ts";

export const solanaRecover: Command = {
  name: "solana recover",
  summary:
    "Show the balances of Solana inboxes, and settle, bridge or rescue them, with only their terms and an RPC URL",
  positionals: [
    {
      name: "file",
      summary:
        "intents as the API returned them, or their inboxTerms.solana, as JSON or JSON lines; - reads standard input",
    },
  ],
  options: {
    rpc: { value: "URL", summary: "JSON-RPC URL of the cluster" },
    settle: { summary: "settle inboxes to their payout wallets; any key with SOL works" },
    bridge: { summary: "burn what is paid out on another chain; any key with SOL works" },
    rescue: { summary: "withdraw what only the recovery key may withdraw; needs that key" },
    to: { value: "ADDRESS", summary: "wallet that receives rescued tokens; default the recovery key's" },
    program: { value: "ADDRESS", summary: "the inbox program of a cluster without a published one" },
    "key-file": { value: "FILE", summary: "key file of the sender, as solana-keygen writes it" },
  },
  examples: [
    "tributary solana recover intent.json --rpc https://api.mainnet-beta.solana.com",
    "tributary solana recover intents.jsonl --rpc https://… --settle --key-file fees.json",
    "tributary solana recover intent.json --rpc https://… --rescue --key-file recovery.json",
  ],
  run: runRecover,
};

const RPC_MS_MAX = 60_000;
const CONNECTIONS_MAX = 2;
const STANDARD_INPUT = 0;

type Way = "settle" | "bridge" | "rescue";
type Context = { request: RpcRequester; key: SolanaSigner; to: string };

async function runRecover(input: CommandInput): Promise<number> {
  const { values, flags, terminal, asJson } = input;
  const ways = (["settle", "bridge", "rescue"] as const).filter((way) => flags.has(way));
  const key = ways.length > 0 ? readSender(input) : undefined;
  const to = readReceiver(values["to"], ways) ?? key?.address ?? "";
  const rpc = new JsonRpcClient({
    url: readRpcUrl(values["rpc"]),
    timeoutMs: RPC_MS_MAX,
    connectionsMax: CONNECTIONS_MAX,
  });
  try {
    const request: RpcRequester = (method, parameters) => rpc.request(method, parameters);
    const cluster = await withChainError(readCluster(request), `${rpc.host} does not answer`);
    const inboxes = readInboxes(input, cluster);
    const { timestamp, holdings } = await withChainError(
      inspectSolana(request, inboxes),
      `${rpc.host} does not answer`,
    );
    const found = holdings.map((holding) => ({ holding, plan: planSolanaRecovery(holding, timestamp) }));
    if (!asJson) {
      if (found.length === 0) terminal.out("These inboxes hold no tokens.");
      for (const { holding, plan } of found) terminal.out(formatHolding(holding, plan));
    }
    const transactions: { what: Way; inboxAddress: string; mint: string; units: bigint; signature: string }[] = [];
    for (const { holding } of key === undefined ? [] : found) {
      const what = chooseWay(holding, ways, { timestamp, sender: key?.address ?? "" });
      if (what === undefined || key === undefined) continue;
      const signature = await recoverHolding(holding, what, { request, key, to });
      const { mint, units, recoverable } = holding;
      transactions.push({ what, inboxAddress: recoverable.inbox.address, mint, units, signature });
      if (!asJson) terminal.out(`${what} of ${units} units of ${mint}: ${signature}`);
    }
    if (asJson) terminal.out(toJson({ cluster, holdings: found.map(toOutput), transactions }));
    return 0;
  } finally {
    await rpc.close();
  }
}

/** The permitted way that the options ask for: a rescue only where nobody can settle or bridge, or where that was not asked for. */
function chooseWay(
  holding: SolanaHolding,
  ways: readonly Way[],
  { timestamp, sender }: { timestamp: number; sender: string },
): Way | undefined {
  const { kind } = planSolanaRecovery(holding, timestamp);
  if ((kind === "settle" || kind === "bridge") && ways.includes(kind)) return kind;
  const rescue = planSolanaRescue(holding, timestamp);
  const isPermitted = rescue.kind === "rescue" && rescue.isAllowed && rescue.sender === sender;
  return isPermitted && ways.includes("rescue") ? "rescue" : undefined;
}

async function recoverHolding(holding: SolanaHolding, what: Way, { request, key, to }: Context): Promise<string> {
  const event = createSigner();
  const calls: Readonly<Record<Way, () => SolanaInstruction[]>> = {
    settle: () => buildSettleCalls(holding, key.address),
    bridge: () => buildBridgeCalls(holding, key.address, event.address),
    rescue: () => buildRescueCalls(holding, key.address, to),
  };
  const signers = what === "bridge" ? [key, event] : [key];
  const sender = { request, signers, sleep: (ms: number) => systemTimer.sleep(ms) };
  return withChainError(sendSolanaTransaction(sender, calls[what]()), "The cluster rejects the transaction");
}

function formatHolding({ recoverable, mint, units }: SolanaHolding, plan: SolanaRecoveryPlan): string {
  const name = recoverable.intentId ?? recoverable.inbox.address;
  return `${name} holds ${units} units of ${mint}: ${describePlan(plan)}`;
}

function describePlan(plan: SolanaRecoveryPlan): string {
  switch (plan.kind) {
    case "settle":
      return "--settle with any key";
    case "bridge":
      return "--bridge with any key";
    case "rescue":
      return `--rescue with the key of ${plan.sender}`;
    case "none":
      return "nothing moves it, because the inbox has no recovery key";
  }
}

function toOutput({ holding, plan }: { holding: SolanaHolding; plan: SolanaRecoveryPlan }): object {
  const { recoverable, ...rest } = holding;
  return { inboxAddress: recoverable.inbox.address, intentId: recoverable.intentId ?? null, ...rest, way: plan };
}

function readInboxes({ positionals, values }: CommandInput, cluster: string): RecoverableInbox[] {
  const program = values["program"] ?? findSolanaProgram(cluster);
  if (program === undefined)
    throw new UsageError(`The cluster ${cluster} has no published inbox program: name yours with --program.`);
  const [file = "-"] = positionals;
  try {
    return parseSolanaInboxes(readFileSync(file === "-" ? STANDARD_INPUT : file, "utf8"), program);
  } catch (error) {
    if (error instanceof InboxInputError) throw new CommandError(`${file}: ${error.message}`);
    throw new CommandError(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function readSender({ values }: CommandInput): SolanaSigner {
  const file = values["key-file"];
  if (file === undefined) throw new UsageError("Missing private key: name its file in --key-file.");
  return readKeyFile(file);
}

function readReceiver(text: string | undefined, ways: readonly Way[]): string | undefined {
  if (text === undefined) return undefined;
  if (!ways.includes("rescue"))
    throw new UsageError("--to needs --rescue: --settle and --bridge always pay as the terms say.");
  if (parseKey(text) === undefined) throw new UsageError(`--to must be the base58 of 32 bytes, not ${text}.`);
  return text;
}
