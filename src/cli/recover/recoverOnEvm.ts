import { inspectChain, type ChainInspection, type RpcRequester } from "@tributary/recover/inspectChain";
import type { VerifiedInbox } from "@tributary/recover/parseInboxes";
import { withChainError } from "../../operator/client/withChainError.ts";
import { CommandError, UsageError } from "../../operator/errors.ts";
import { toJson } from "../../operator/process/terminal.ts";
import type { CommandInput } from "../command.ts";
import { receiveOnChain, type ReceiveOptions } from "./receiveOnChain.ts";
import {
  parseInboxFile,
  readAddress,
  readAddresses,
  readAttestationUrl,
  readBridges,
  readBurnTxs,
  readFeeCeiling,
  readFromBlock,
  readPrivateKey,
  readSignedBurn,
} from "./recoverInput.ts";
import { recoverOnChain, reportRefusedBridges, reportRefusedRescues, type RecoverOptions } from "./recoverOnChain.ts";
import {
  formatHoldings,
  formatInboxes,
  formatNextSteps,
  formatTransactions,
  toRecoverOutput,
  type ChainRecovery,
} from "./recoverOutput.ts";
import type { RecoverContext } from "./recoverTransaction.ts";
import { createWallet } from "./wallet.ts";

type ChainAccess = {
  urls: readonly string[];
  /** Opens one chain for a task, and closes it afterwards. */
  withRpc: (url: string, run: (request: RpcRequester, host: string) => Promise<void>) => Promise<void>;
};

/** The exit code of a burn that is not signed yet: the command can succeed later (EX_TEMPFAIL). */
const NOT_YET = 75;

/** Recovers on EVM chains, and resolves with the exit code. */
export async function recoverOnEvm(
  input: CommandInput,
  { urls, withRpc }: ChainAccess,
  { file, text }: { file: string; text: string },
): Promise<number> {
  const { values, terminal, asJson } = input;
  const options = readRecoverOptions(input);
  const isSending = options.settle || options.rescue || options.speed !== undefined || options.receive !== undefined;
  const key = isSending ? readPrivateKey(input) : undefined;
  const fromBlock = readFromBlock(values["from-block"]);
  const feeCeiling = readFeeCeiling(values["max-fee-gwei"]);
  const inboxes = parseInboxFile(file, text);
  const show = (lines: readonly string[]) => lines.forEach((line) => asJson || terminal.out(line));
  show(formatInboxes(inboxes, terminal));
  const results: ChainRecovery[] = [];
  const exitCodes: number[] = [];
  for (const url of urls)
    await withRpc(url, async (request, host) => {
      const onProgress = (done: number, total: number) => terminal.progress(`${host}: ${done} of ${total} balances`);
      const pendingInspection = inspectChain(request, inboxes, { tokens: options.tokens, fromBlock, onProgress });
      const inspection = await withChainError(pendingInspection, `${host} does not answer`);
      show(formatHoldings(inspection, options, terminal));
      const note = (line: string) => terminal.note(line);
      const context = key && { request, wallet: await createWallet(request, { key, feeCeiling }), note };
      const result =
        context === undefined ? { transactions: [] } : await act(inboxes, options, { inspection, context });
      show(formatTransactions({ inspection, ...result }, terminal));
      show(formatNextSteps({ inspection, ...result }, { inboxes, file }));
      results.push({ inspection, ...result });
      exitCodes.push(...(result.exitCodes ?? []));
    });
  if (asJson) terminal.out(toJson(results.map((result) => toRecoverOutput(result, options))));
  if (options.receive !== undefined && results.every(({ isReceiving }) => isReceiving !== true))
    throw new CommandError(describeWrongChains(inboxes, results));
  return Math.max(0, ...exitCodes);
}

type ChainActs = Omit<ChainRecovery, "inspection"> & { exitCodes?: number[] };

async function act(
  inboxes: readonly VerifiedInbox[],
  options: RunOptions,
  { inspection, context }: { inspection: ChainInspection; context: RecoverContext },
): Promise<ChainActs> {
  const { transactions, isRefused: isTokenRefused } = await recoverOnChain(inspection, options, context);
  const isRefused = [
    options.rescue && reportRefusedRescues(inspection, options, context),
    reportRefusedBridges(inspection, options, context),
  ].includes(true);
  const exitCodes = isTokenRefused || (isRefused && transactions.length === 0) ? [1] : [];
  if (options.receive === undefined) return { transactions, exitCodes };
  const received = await receiveOnChain(inboxes, options.receive, { inspection, context });
  if (received === undefined) return { transactions, exitCodes };
  if (received.pending.length > 0) exitCodes.push(NOT_YET);
  return {
    transactions: [...transactions, ...received.transactions],
    pending: received.pending,
    isReceiving: true,
    exitCodes,
  };
}

function describeWrongChains(inboxes: readonly VerifiedInbox[], results: readonly ChainRecovery[]): string {
  const asked = results.map(({ inspection }) => inspection.chainId).join(", ");
  const wanted = [...new Set(inboxes.map(({ terms }) => terms.settleChainId))].join(", ");
  return `--receive works where the inboxes are paid out, which is chain ${wanted}; --rpc leads to chain ${asked}.`;
}

type RunOptions = RecoverOptions & { receive: ReceiveOptions | undefined };

function readRecoverOptions(input: CommandInput): RunOptions {
  const { values, flags } = input;
  const to = values["to"] === undefined ? undefined : readAddress(values["to"], "to");
  if (values["receive"] !== undefined && values["message"] !== undefined)
    throw new UsageError("--receive asks the attestation service for the message: give --receive or --message.");
  if (to !== undefined && !flags.has("rescue"))
    throw new UsageError("--to needs --rescue: --settle always pays the payout wallet of the terms.");
  if (flags.has("fast") && !flags.has("bridge"))
    throw new UsageError("--fast needs --bridge: it chooses the route of the bridge.");
  const tokens = readAddresses(values["token"], "token");
  const bridges = readBridges(values["bridges"]);
  const attestationUrl = readAttestationUrl(values["attestation-url"]);
  const burnTxs = readBurnTxs(values["receive"]);
  const signed = readSignedBurn(input);
  const isReceiving = burnTxs.length > 0 || signed !== undefined;
  const receive = isReceiving ? { burnTxs, signed, bridges, attestationUrl } : undefined;
  const speed = flags.has("bridge") ? (flags.has("fast") ? "fast" : "standard") : undefined;
  return {
    settle: flags.has("settle"),
    rescue: flags.has("rescue"),
    tokens,
    to,
    speed,
    bridges,
    attestationUrl,
    receive,
  };
}
