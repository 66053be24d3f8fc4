import { checksumAddress, parseAddress } from "@tributary/inbox/checksum";
import { noKey, parseKey } from "@tributary/inbox/solana/keys";
import { findSolanaProgram } from "@tributary/inbox/solana/program";
import {
  expectSolanaPayout,
  verifySolanaInbox,
  type ExpectedSolanaPayout,
  type SolanaVerifyReason,
} from "@tributary/inbox/solana/verify";
import { solanaTermsToWire, type SolanaInboxTerms } from "@tributary/inbox/solana/wire";
import { zeroAddress, zeroBytes32 } from "@tributary/inbox/terms";
import { verifyInbox, type VerifyReason } from "@tributary/inbox/verify";
import { routesToWire, termsToWire } from "@tributary/inbox/wire";
import { formatDay } from "@tributary/recover/format";
import { parseInboxEntries, type FileEntry, type VerifiedInbox } from "@tributary/recover/parseInboxes";
import { readCluster } from "@tributary/recover/solana/inspectSolana";
import {
  findSolanaTerms,
  parseSolanaEntries,
  type RecoverableInbox,
} from "@tributary/recover/solana/parseSolanaInboxes";
import { withChainError } from "../../operator/client/withChainError.ts";
import type { InboxProgramState } from "../../chain/solana/inboxProgram.ts";
import { UsageError } from "../../operator/errors.ts";
import type { CommandInput } from "../command.ts";
import { readBridges } from "../recover/recoverInput.ts";
import { PROGRAM_TEXTS, readState, withRpc } from "./program.ts";
import { readRpcUrl } from "./rpcUrl.ts";

// The part of `tributary verify` for intents that are paid out on Solana.

/** An intent that is paid out on Solana, with the inboxes that its terms determine. */
export type SolanaIntent = RecoverableInbox & {
  /** CAIP-2 reference of the payout's cluster, where the file names it. */
  readonly cluster: string | undefined;
  /** Its inbox on EVM chains, where routes lead from there. */
  readonly onEvm: VerifiedInbox | undefined;
};

/** What was found about one inbox. */
export type InboxVerdict = {
  readonly intentId: string | undefined;
  readonly inboxAddress: string;
  /** On Solana. */
  readonly tokenAccount?: string;
  readonly reason: VerifyReason | SolanaVerifyReason | undefined;
  /** The only receiver, for a sentence. */
  readonly receiver: string;
  /** Below the first line of an inbox that passes. */
  readonly lines: readonly string[];
};

/** Reads the intents of a file that are paid out on Solana; the others are in `rest`. Throws InboxInputError. */
export function readSolanaIntents(entries: readonly FileEntry[]): { intents: SolanaIntent[]; rest: FileEntry[] } {
  const intents = entries.flatMap((entry) => toIntent(entry) ?? []);
  return { intents, rest: entries.filter((entry) => !isPaidOnSolana(entry)) };
}

function isPaidOnSolana({ value }: FileEntry): boolean {
  return findSolanaTerms(value)?.["kind"] === "pay";
}

function toIntent(entry: FileEntry): SolanaIntent | undefined {
  if (!isPaidOnSolana(entry)) return undefined;
  const { payout, inboxTerms } = entry.value as {
    payout?: { chainReference?: unknown };
    inboxTerms?: { hub?: unknown };
  };
  const [recoverable] = parseSolanaEntries([entry]);
  const [evm] = inboxTerms?.hub === undefined ? [] : parseInboxEntries([entry]);
  // Terms without routes are those of an address that is never issued.
  const onEvm = evm?.terms.routesRoot === zeroBytes32 ? undefined : evm;
  const cluster = typeof payout?.chainReference === "string" ? payout.chainReference : undefined;
  return recoverable && { ...recoverable, cluster, onEvm };
}

/** What the cluster behind --rpc says; undefined without it. */
type ClusterState = { readonly cluster: string; readonly program: InboxProgramState["kind"] };

/** Verifies the inboxes of one intent: the one on Solana, and the one whose routes lead to it. Throws UsageError. */
export async function verifySolanaIntent(
  intent: SolanaIntent,
  payoutWallet: string,
  input: CommandInput,
): Promise<InboxVerdict[]> {
  const expected = readExpected(intent, payoutWallet, input);
  const onCluster = await readOnCluster(expected, input);
  const { onEvm } = intent;
  const shown = parseAddress(input.values["inbox"]);
  const bridging = onEvm === undefined ? [] : [verifyOnEvm(onEvm, intent, { expected, input })];
  // The payer saw the inbox of an EVM chain.
  if (shown !== undefined && bridging.length > 0) return bridging;
  return [verifyOnSolana(intent, { expected, onCluster, input }), ...bridging];
}

type Compared = { expected: ExpectedSolanaPayout; input: CommandInput };

function verifyOnSolana(
  { inbox, intentId }: SolanaIntent,
  { expected, onCluster, input }: Compared & { onCluster: ClusterState | undefined },
): InboxVerdict {
  const wire = solanaTermsToWire(inbox.terms, inbox);
  const verified = verifySolanaInbox(wire, expected);
  const isKey = parseKey(expected.payoutWallet) !== undefined;
  const mismatch = verified.ok ? checkCluster(expected, onCluster) : verified.reason;
  // A wallet of an EVM chain is no key at all.
  const reason = isKey ? mismatch : "wrong_payout";
  return {
    intentId,
    inboxAddress: inbox.address,
    tokenAccount: inbox.tokenAccount,
    reason,
    receiver: expected.payoutWallet,
    lines: wire.kind === "pay" ? describe(wire, { expected, onCluster, input, tokenAccount: inbox.tokenAccount }) : [],
  };
}

function checkCluster(
  { cluster }: ExpectedSolanaPayout,
  onCluster: ClusterState | undefined,
): SolanaVerifyReason | undefined {
  if (onCluster === undefined) return undefined;
  if (onCluster.cluster !== cluster) return "wrong_chain";
  return onCluster.program === "present" ? undefined : "wrong_program";
}

/** Its routes may only lead to the token account of the intent's own inbox on Solana. */
function verifyOnEvm(
  { terms, hub, routes, address }: VerifiedInbox,
  { inbox, intentId }: SolanaIntent,
  { expected, input }: Compared,
): InboxVerdict {
  const wire = {
    ...termsToWire(terms, hub),
    routes: routes && routesToWire(routes),
    solana: solanaTermsToWire(inbox.terms, inbox),
  };
  const verified = verifyInbox(wire, {
    inboxAddress: parseAddress(input.values["inbox"]) ?? address,
    payoutWallet: zeroAddress,
    token: zeroAddress,
    chainId: 0,
    feeBpsMax: 0,
    bridges: { cctpV2Chains: readBridges(input.values["bridges"]) },
    solana: expectSolanaPayout(expected),
  });
  const origins = [...new Set((routes ?? []).map(({ chainId }) => chainId.toString()))];
  return {
    intentId,
    inboxAddress: checksumAddress(address),
    reason: verified.ok ? undefined : verified.reason,
    receiver: `${inbox.address} on Solana`,
    lines: [`  bridges to it from chains ${origins.join(", ")}`],
  };
}

function describe(
  wire: SolanaInboxTerms & { kind: "pay" },
  {
    expected,
    onCluster,
    input,
    tokenAccount,
  }: Compared & { onCluster: ClusterState | undefined; tokenAccount: string },
): string[] {
  const note = (option: string) => (input.values[option] === undefined ? " (from the terms, not compared)" : "");
  const program = onCluster === undefined ? "not read from the cluster; --rpc reads it" : PROGRAM_TEXTS.present;
  const recovery =
    wire.recovery === noKey
      ? "by nobody: what cannot be settled stays in the inbox"
      : `by ${wire.recovery}: other tokens now, everything from ${formatDay(wire.recoverAfter)}`;
  return [
    `  token ${wire.mint}${note("token")} on cluster ${expected.cluster}${note("chain")}`,
    `  token account ${tokenAccount}`,
    `  program ${wire.program}: ${program}`,
    `  fee ${(wire.feeBps / 100).toFixed(2)} %${note("fee-bps-max")} to ${wire.feeAccount}`,
    `  recovery ${recovery}`,
  ];
}

/**
 * An absent option takes its value from the terms. Payout wallet, and where none is published the program, have no such
 * default.
 */
function readExpected(
  { inbox, cluster: stated }: SolanaIntent,
  payoutWallet: string,
  { values }: CommandInput,
): ExpectedSolanaPayout {
  const { terms } = inbox;
  const cluster = readClusterOption(values["chain"]) ?? stated;
  const program = readKey(values["program"], "program");
  if (cluster === undefined)
    throw new UsageError("The file does not name the cluster of its Solana terms: add --chain solana:REFERENCE.");
  if (program === undefined && findSolanaProgram(cluster) === undefined)
    throw new UsageError(`The cluster ${cluster} has no published inbox program: name yours with --program.`);
  const feeBpsMax = values["fee-bps-max"];
  const recovery = readKey(values["recovery"], "recovery");
  return {
    kind: "pay",
    address:
      parseAddress(values["inbox"]) === undefined
        ? (readKey(values["inbox"], "inbox") ?? inbox.address)
        : inbox.address,
    cluster,
    mint: readKey(values["token"], "token") ?? terms.mint,
    payoutWallet,
    feeBpsMax: feeBpsMax === undefined ? feeOf(inbox) : readNumber(feeBpsMax),
    ...(program === undefined ? {} : { program }),
    ...(recovery === undefined ? {} : { recovery }),
  };
}

function feeOf({ terms }: RecoverableInbox["inbox"]): number {
  return terms.kind === "pay" ? terms.feeBps : 0;
}

/** Accepts `solana:REFERENCE` and the reference alone. */
function readClusterOption(text: string | undefined): string | undefined {
  const reference = text?.replace(/^solana:/, "");
  if (reference === undefined || /^[1-9A-HJ-NP-Za-km-z]{32}$/.test(reference)) return reference;
  throw new UsageError(
    `--chain must be the CAIP-2 id of a cluster, such as solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp, not ${text}.`,
  );
}

function readKey(text: string | undefined, option: string): string | undefined {
  if (text === undefined || parseKey(text) !== undefined) return text;
  throw new UsageError(`--${option} must be the base58 of 32 bytes, not ${text}.`);
}

function readNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new UsageError(`--fee-bps-max must be a whole number, not ${text}.`);
  return Number(text);
}

/** Reads cluster and program from --rpc; undefined without it. */
async function readOnCluster(
  { cluster: expected, program }: ExpectedSolanaPayout,
  { values }: CommandInput,
): Promise<ClusterState | undefined> {
  if (values["rpc"] === undefined) return undefined;
  return withRpc(readRpcUrl(values["rpc"]), async (request, host) => {
    const cluster = await withChainError(readCluster(request), `${host} does not answer`);
    const address = program ?? findSolanaProgram(expected) ?? "";
    const state = await withChainError(readState(request, address), `${host} does not answer`);
    return { cluster, program: state.kind };
  });
}
