import type { FoundBurn } from "@tributary/recover/bridge/searchBurns";
import { inspectChain, type ChainInspection } from "@tributary/recover/inspectChain";
import type { RpcRequester } from "@tributary/recover/rpc/rpcRequester";
import type { VerifiedInbox } from "@tributary/recover/parseInboxes";
import { withChainError } from "../../operator/client/withChainError.ts";
import { CommandError } from "../../operator/errors.ts";
import type { CommandInput } from "../command.ts";
import { formatTracked, trackAll, type TrackedChain } from "./burnedOnChains.ts";
import { receiveOnChain } from "./receiveOnChain.ts";
import { readFeeCeiling, readPrivateKey } from "./recoverInput.ts";
import { recoverOnChain, reportRefusedBridges, reportRefusedRescues } from "./recoverOnChain.ts";
import { isSending, readRecoverOptions, requireReceiver, type ChainAccess, type RunOptions } from "./recoverOptions.ts";
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

export type EvmInput = {
  file: string;
  inboxes: readonly VerifiedInbox[];
  /** Burns on other kinds of chains, to compare with what arrived. */
  burns: readonly FoundBurn[];
};

/** What was found and done on EVM chains. `output` is for `--json`. */
export type EvmRecovery = { exitCode: number; output: readonly object[] };

/** The exit code of a burn that is not signed yet: the command can succeed later (EX_TEMPFAIL). */
const NOT_YET = 75;

/** Recovers on EVM chains. */
export async function recoverOnEvm(
  input: CommandInput,
  access: ChainAccess,
  { file, inboxes, burns }: EvmInput,
): Promise<EvmRecovery> {
  const { values, terminal, asJson } = input;
  const options = readRecoverOptions(input);
  const key = isSending(options) ? readPrivateKey(input) : undefined;
  const feeCeiling = readFeeCeiling(values["max-fee-gwei"]);
  requireReceiver(options, inboxes);
  const show = (lines: readonly string[]) => lines.forEach((line) => asJson || terminal.out(line));
  show(formatInboxes(inboxes, terminal));
  const results: (ChainRecovery & TrackedChain)[] = [];
  const exitCodes: number[] = [0];
  for (const url of access.urls)
    await access.withRpc(url, async (request, host) => {
      const inspection = await inspect(request, inboxes, { host, options, input });
      show(formatHoldings(inspection, options, { host, terminal }));
      const note = (line: string) => terminal.note(line);
      const context = key && { request, wallet: await createWallet(request, { key, feeCeiling }), note };
      const result =
        context === undefined ? { transactions: [] } : await act(inboxes, options, { inspection, context });
      show(formatTransactions({ inspection, ...result }, terminal));
      show(formatNextSteps({ inspection, ...result }, { inboxes, file }));
      results.push({ inspection, url, ...result });
      exitCodes.push(...(result.exitCodes ?? []));
    });
  const tracked = await trackAll(results, { inboxes, burns, options, withRpc: access.withRpc });
  show(formatTracked(tracked, { inboxes, results, file, isLooking: key === undefined }));
  if (options.receive !== undefined && results.every(({ isReceiving }) => isReceiving !== true))
    throw new CommandError(describeWrongChains(inboxes, results));
  const output = results.map((result) => toRecoverOutput({ ...result, burned: tracked }, options));
  return { exitCode: Math.max(...exitCodes), output };
}

function inspect(
  request: RpcRequester,
  inboxes: readonly VerifiedInbox[],
  { host, options, input }: { host: string; options: RunOptions; input: CommandInput },
): Promise<ChainInspection> {
  const onProgress = (done: number, total: number) => input.terminal.progress(`${host}: ${done} of ${total} balances`);
  const { tokens, fromBlock, bridges } = options;
  return withChainError(
    inspectChain(request, inboxes, { tokens, fromBlock, bridges, onProgress }),
    `${host} does not answer`,
  );
}

type ChainActs = Omit<ChainRecovery, "inspection"> & { exitCodes?: number[] };

async function act(
  inboxes: readonly VerifiedInbox[],
  options: RunOptions,
  { inspection, context }: { inspection: ChainInspection; context: RecoverContext },
): Promise<ChainActs> {
  const { transactions, isRefused: hasFailed } = await recoverOnChain(inspection, options, context);
  const isRefused = [
    options.rescue && reportRefusedRescues(inspection, options, context),
    reportRefusedBridges(inspection, options, context),
  ].includes(true);
  const exitCodes = hasFailed || (isRefused && transactions.length === 0) ? [1] : [];
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
