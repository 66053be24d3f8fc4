import { noKey, parseKey } from "@tributary/inbox/solana/keys";
import { findSolanaProgram } from "@tributary/inbox/solana/program";
import type { SolanaInstruction } from "@tributary/inbox/solana/instructions";
import { formatDay } from "@tributary/recover/format";
import type { FoundBurn } from "@tributary/recover/bridge/searchBurns";
import type { RpcRequester } from "@tributary/recover/rpc/rpcRequester";
import type { ParsedIntents } from "@tributary/recover/parseIntents";
import {
  inspectSolana,
  readCluster,
  requireWallet,
  type NestedHolding,
  type SolanaHolding,
  type SolanaInspection,
} from "@tributary/recover/solana/inspectSolana";
import { findForeignProgram, type RecoverableInbox } from "@tributary/recover/solana/parseSolanaInboxes";
import {
  buildBridgeCalls,
  buildRescueCalls,
  buildRescueLamportsCalls,
  buildSettleCalls,
  buildUnnestCalls,
  planSolanaRecovery,
  planSolanaRescue,
  rescuableLamports,
  type SolanaHopRoute,
} from "@tributary/recover/solana/planSolanaRecovery";
import { sendSolanaTransaction, type SolanaSigner } from "@tributary/recover/solana/sendSolanaTransaction";
import { systemTimer } from "../../kernel/clock.ts";
import { withChainError } from "../../operator/client/withChainError.ts";
import { CommandError, UsageError } from "../../operator/errors.ts";
import type { CommandInput } from "../command.ts";
import { createSigner, readKeyFile } from "./keypair.ts";
import { readReceiveOptions, receiveOnSolana, type SolanaReceiveOptions } from "./receive.ts";

// The part of `tributary recover` for Solana.

type Way = "settle" | "bridge" | "rescue";
type Choice = { what: "settle" | "rescue" } | { what: "bridge"; route: SolanaHopRoute };
type Context = { request: RpcRequester; key: SolanaSigner; to: string; ways: readonly Way[] };
type Attempt = {
  what: Way | "unnest" | "receive";
  inboxAddress: string;
  mint: string | null;
  units: bigint;
};
type Transaction = Attempt & { signature: string };
type Failure = Attempt & { reason: string };

/** What was found and done on one cluster. */
export type SolanaRecovery = {
  cluster: string;
  holdings: object[];
  nested: object[];
  lamports: object[];
  transactions: Transaction[];
  /** What the cluster refused. It does not stop the rest, because anyone can send a frozen token to an inbox. */
  failures: Failure[];
  /** What the inboxes burned here for their payout's chain. */
  burned: readonly FoundBurn[];
};

/** One cluster for `--json`. */
export function toSolanaOutput({ burned, ...recovery }: SolanaRecovery): object {
  const burns = burned.map(({ txHash: burn, recipient, units }) => ({ burn, recipient, units, state: "unknown" }));
  return { ...recovery, burned: burns };
}

export type SolanaRecoverOptions = {
  intents: ParsedIntents;
  /** The name of their file, for messages. */
  file: string;
  request: RpcRequester;
  host: string;
};

/** The ways of the options, the key and the receiver. Throws UsageError and CommandError. */
export function readSolanaOptions(input: CommandInput): {
  ways: readonly Way[];
  key: SolanaSigner | undefined;
  to: string;
  receiving: SolanaReceiveOptions | undefined;
} {
  const { values, flags } = input;
  const receiving = readReceiveOptions(input);
  // What is received is settled: anybody may.
  const isAsked = (way: Way) => flags.has(way) || (way === "settle" && receiving !== undefined);
  const ways = (["settle", "bridge", "rescue"] as const).filter(isAsked);
  const key = ways.length > 0 ? readSender(values["key-file"]) : undefined;
  return { ways, key, to: readReceiver(values["to"], ways) ?? key?.address ?? "", receiving };
}

/** Shows what Solana inboxes hold, and recovers it in the ways of the options. */
export async function recoverOnSolana(
  input: CommandInput,
  { intents, file, request, host }: SolanaRecoverOptions,
): Promise<SolanaRecovery> {
  const { terminal, asJson, values } = input;
  const { ways, key, to, receiving } = readSolanaOptions(input);
  const cluster = await withChainError(readCluster(request), `${host} does not answer`);
  const failures: Failure[] = [];
  const program = values["program"] ?? findSolanaProgram(cluster);
  const inboxes = chooseInboxes(intents, { file, program, cluster }).filter(({ inbox }) => {
    const refusal = findForeignProgram(inbox, program ?? "");
    if (refusal !== undefined) failures.push({ ...NOTHING, inboxAddress: inbox.address, reason: refusal });
    return refusal === undefined;
  });
  if (inboxes.length > 0) for (const { reason } of failures) terminal.note(`Left out of ${file}: ${reason}`);
  const [foreign] = failures;
  if (foreign !== undefined && inboxes.length === 0) throw new CommandError(`${file}: ${foreign.reason}`);
  requireWalletOutside(to, inboxes);
  const onProgress = (done: number, total: number) => terminal.progress(`${host}: ${done} of ${total} inboxes`);
  const inspect = () => withChainError(inspectSolana(request, inboxes, onProgress), `${host} does not answer`);
  const show = (line: string) => asJson || terminal.out(line);
  const transactions: Transaction[] = [];
  if (receiving !== undefined && key !== undefined) {
    const run = { request, cluster, inboxes, payer: key.address, note: (line: string) => terminal.note(line) };
    const { received, waiting } = await receiveOnSolana(receiving, {
      ...run,
      send: (calls) => send(request, [key], [...calls]),
    });
    for (const { signature, ...each } of received) {
      transactions.push({ what: "receive", ...each, signature });
      show(`receive of ${each.units} units of ${each.mint}: ${signature}`);
    }
    for (const { inboxAddress, reason } of waiting) {
      failures.push({ ...NOTHING, what: "receive", inboxAddress, reason });
      terminal.note(`Not received: ${inboxAddress}. ${reason}`);
    }
  }
  const inspection = await inspect();
  for (const line of formatInspection(inspection, host)) show(line);
  const attempt: Runner = async (planned, run) => {
    const { what, units, mint } = planned;
    const words = `${what} of ${units} ${mint === null ? "lamports" : `units of ${mint}`}`;
    try {
      const signature = await run();
      transactions.push({ ...planned, signature });
      show(`${words}: ${signature}`);
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      failures.push({ ...planned, reason: error.message });
      terminal.note(`${words} failed: ${error.message}`);
    }
  };
  if (key !== undefined) {
    if (ways.includes("rescue")) await withChainError(requireWallet(request, to), "--to");
    await recoverAll(inspection, { request, key, to, ways }, { attempt, inspect });
    for (const refused of listRefused(inspection, { key, ways })) {
      failures.push(refused);
      terminal.note(`Not moved: ${refused.units} units of ${refused.mint}. ${refused.reason}`);
    }
  }
  return { cluster, ...toOutput(inspection), transactions, failures, burned: inspection.burned.burns };
}

const NOTHING = { what: "rescue", mint: null, units: 0n } as const;

/**
 * What the run was asked for and cannot take. What its own key may take later, and anybody may settle now, is left in
 * silence.
 */
function listRefused(
  { holdings, timestamp }: SolanaInspection,
  { key: { address: sender }, ways }: Pick<Context, "key" | "ways">,
): Failure[] {
  const left = holdings.filter((holding) => chooseWay(holding, ways, { timestamp, sender }) === undefined);
  return left.flatMap((holding): Failure[] => {
    const { recoverable, mint, units, isPinned } = holding;
    const described = { inboxAddress: recoverable.inbox.address, mint, units };
    const plan = planSolanaRecovery(holding, timestamp);
    if (ways.includes("bridge") && plan.kind === "unbridgeable")
      return [{ ...described, what: "bridge", reason: `Not bridged: ${UNBRIDGEABLE[plan.reason]}.` }];
    const rescue = planSolanaRescue(holding, timestamp);
    if (!ways.includes("rescue") || (isPinned && rescue.kind === "rescue" && rescue.sender === sender)) return [];
    const reason =
      rescue.kind === "rescue" ? `Only the key of ${rescue.sender} may rescue it.` : "Its terms name no recovery key.";
    return [{ ...described, what: "rescue", reason }];
  });
}

/** Throws UsageError for a receiver from which nothing would have left. */
function requireWalletOutside(to: string, inboxes: readonly RecoverableInbox[]): void {
  if (inboxes.some(({ inbox }) => inbox.address === to || inbox.tokenAccount === to))
    throw new UsageError(`--to ${to} is an inbox itself, not a wallet: nothing was sent.`);
}

/** Runs one transaction, and records its signature or why it failed. */
type Runner = (planned: Attempt, run: () => Promise<string>) => Promise<void>;

async function recoverAll(
  inspection: SolanaInspection,
  context: Context,
  { attempt, inspect }: { attempt: Runner; inspect: () => Promise<SolanaInspection> },
): Promise<void> {
  const { request, key, to, ways } = context;
  const { timestamp } = inspection;
  const describe = ({ recoverable, mint, units }: NestedHolding) => {
    return { inboxAddress: recoverable.inbox.address, mint, units };
  };
  // What returns to an inbox then leaves it with the rest.
  const returned = inspection.nested.filter((nested) => canLeave(nested, context));
  for (const nested of returned)
    await attempt({ what: "unnest", ...describe(nested) }, () =>
      send(request, [key], buildUnnestCalls(nested, key.address)),
    );
  const { holdings } = returned.length === 0 ? inspection : await inspect();
  for (const holding of holdings) {
    const choice = chooseWay(holding, ways, { timestamp, sender: key.address });
    if (choice !== undefined)
      await attempt({ what: choice.what, ...describe(holding) }, () => recoverHolding(holding, choice, context));
  }
  for (const found of ways.includes("rescue") ? inspection.lamports : []) {
    const { address, terms } = found.recoverable.inbox;
    const units = terms.recovery === key.address ? rescuableLamports(found, timestamp) : 0n;
    if (units > 0n)
      await attempt({ what: "rescue", inboxAddress: address, mint: null, units }, () =>
        send(request, [key], buildRescueLamportsCalls(found, to)),
      );
  }
}

/** Whether nested tokens leave the inbox in this run. Returning others costs the sender rent and moves nothing out. */
function canLeave({ recoverable, mint }: NestedHolding, { ways, key }: Context): boolean {
  const { terms } = recoverable.inbox;
  return mint === terms.mint || (ways.includes("rescue") && terms.recovery === key.address);
}

/**
 * The permitted way that the options ask for: a rescue only where nobody can settle or bridge, or where that was not
 * asked for.
 */
function chooseWay(
  holding: SolanaHolding,
  ways: readonly Way[],
  { timestamp, sender }: { timestamp: number; sender: string },
): Choice | undefined {
  const plan = planSolanaRecovery(holding, timestamp);
  if (plan.kind === "settle" && ways.includes("settle")) return { what: "settle" };
  const [route] = plan.kind === "bridge" && ways.includes("bridge") ? plan.routes : [];
  if (route !== undefined) return { what: "bridge", route };
  const rescue = planSolanaRescue(holding, timestamp);
  const isPermitted = rescue.kind === "rescue" && rescue.isAllowed && rescue.sender === sender;
  return isPermitted && ways.includes("rescue") ? { what: "rescue" } : undefined;
}

async function recoverHolding(holding: SolanaHolding, choice: Choice, context: Context): Promise<string> {
  const { request, key, to } = context;
  if (choice.what === "bridge") return bridge(holding, choice.route, context);
  const isSettled = choice.what === "settle";
  const calls = isSettled ? buildSettleCalls([holding], key.address) : buildRescueCalls(holding, key.address, to);
  return send(request, [key], calls);
}

function bridge(holding: SolanaHolding, route: SolanaHopRoute, { request, key }: Context): Promise<string> {
  const event = createSigner();
  return send(request, [key, event], buildBridgeCalls(holding, { payer: key.address, event: event.address, route }));
}

async function send(
  request: RpcRequester,
  signers: readonly [SolanaSigner, ...SolanaSigner[]],
  calls: SolanaInstruction[],
): Promise<string> {
  const sender = { request, signers, sleep: (ms: number) => systemTimer.sleep(ms) };
  return withChainError(sendSolanaTransaction(sender, calls), "The cluster rejects the transaction");
}

function formatInspection({ holdings, nested, lamports, timestamp, burned }: SolanaInspection, host: string): string[] {
  const nameOf = ({ intentId, inbox }: RecoverableInbox) => intentId ?? inbox.address;
  return [
    ...(holdings.length + nested.length === 0
      ? [`These inboxes hold no tokens, says ${host}. Providers can be behind or wrong: ask a second one.`]
      : []),
    ...(burned.isComplete ? [] : [`${host} does not show all transactions of these inboxes, so burns may be missing.`]),
    ...holdings.map((holding) => {
      const { recoverable, mint, units } = holding;
      return `${nameOf(recoverable)} holds ${units} units of ${mint}: ${describePlan(holding, timestamp)}`;
    }),
    ...nested.map(({ recoverable, mint, units }) => {
      const { terms } = recoverable.inbox;
      const found = `${nameOf(recoverable)} holds ${units} units of ${mint} below its token account`;
      if (mint === terms.mint) return `${found}: every way returns them to the inbox first`;
      return terms.recovery === noKey
        ? `${found}: nothing moves them out, because the inbox has no recovery key`
        : `${found}: --rescue with the key of ${terms.recovery} returns them to the inbox first`;
    }),
    ...lamports.flatMap((found) => {
      const units = rescuableLamports(found, timestamp);
      const { recovery } = found.recoverable.inbox.terms;
      return units === 0n
        ? []
        : [`${nameOf(found.recoverable)} holds ${units} lamports: --rescue with the key of ${recovery}`];
    }),
  ];
}

function describePlan(holding: SolanaHolding, timestamp: number): string {
  const plan = planSolanaRecovery(holding, timestamp);
  switch (plan.kind) {
    case "settle":
      return "--settle with any key";
    case "bridge":
      return "--bridge with any key";
    case "rescue":
      return `--rescue with the key of ${plan.sender}`;
    case "unbridgeable":
      return describeUnbridgeable(holding, plan.reason);
    case "none":
      return "nothing moves it, because the inbox has no recovery key";
  }
}

const UNBRIDGEABLE = {
  minimum: "the bridge takes no less than the minimum of its terms",
  messenger: "it is not bridged, because its terms name a messenger that is not Circle's",
  routes: "its terms have no route",
};

function describeUnbridgeable(holding: SolanaHolding, reason: keyof typeof UNBRIDGEABLE): string {
  const { recovery, recoverAfter } = holding.recoverable.inbox.terms;
  const rescue = recovery === noKey ? "" : `; --rescue with the key of ${recovery} from ${formatDay(recoverAfter)}`;
  return `${UNBRIDGEABLE[reason]}${rescue}`;
}

function toOutput({
  holdings,
  nested,
  lamports,
  timestamp,
}: SolanaInspection): Omit<SolanaRecovery, "cluster" | "transactions" | "failures" | "burned"> {
  const name = ({ recoverable, ...rest }: { recoverable: RecoverableInbox }) => ({
    inboxAddress: recoverable.inbox.address,
    intentId: recoverable.intentId ?? null,
    ...rest,
  });
  return {
    holdings: holdings.map((holding) => ({ ...name(holding), way: planSolanaRecovery(holding, timestamp) })),
    nested: nested.map(name),
    lamports: lamports.map((found) => ({ ...name(found), rescuable: rescuableLamports(found, timestamp) })),
  };
}

/** Throws UsageError without a program, and CommandError where the file has no inbox on Solana. */
function chooseInboxes(
  { onSolana, onEvm }: ParsedIntents,
  { file, program, cluster }: { file: string; program: string | undefined; cluster: string },
): readonly RecoverableInbox[] {
  if (program === undefined)
    throw new UsageError(`The cluster ${cluster} has no published inbox program: name yours with --program.`);
  if (onSolana.length > 0) return onSolana;
  throw new CommandError(
    `${file}: none of its ${onEvm.length} inboxes is on Solana; give the RPC URL of their EVM chain.`,
  );
}

function readSender(file: string | undefined): SolanaSigner {
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
