import { checksumAddress, parseAddress } from "@tributary/inbox/checksum";
import type { Route } from "@tributary/inbox/routes";
import { parseKey } from "@tributary/inbox/solana/keys";
import { zeroAddress, type Hex, type Terms } from "@tributary/inbox/terms";
import { verifyInbox, type VerifyReason } from "@tributary/inbox/verify";
import { routesToWire, termsToWire } from "@tributary/inbox/wire";
import { InboxInputError, parseInboxEntries, readEntries, type VerifiedInbox } from "@tributary/recover/parseInboxes";
import { formatDay } from "@tributary/recover/format";
import { resolveChainId, findChainByName } from "../../config/chainName.ts";
import type { CommandInput } from "../command.ts";
import { CommandError, UsageError } from "../../operator/errors.ts";
import { readAddress, readBridges, readFileText } from "../recover/recoverInput.ts";
import { readSolanaIntents, verifySolanaIntent, type InboxVerdict, type SolanaIntent } from "../solana/verify.ts";
import { toJson, type Terminal } from "../../operator/process/terminal.ts";

const REASON_TEXTS: Partial<Record<NonNullable<InboxVerdict["reason"]>, string>> = {
  wrong_address: "the address does not match these terms",
  wrong_payout: "it pays another wallet",
  wrong_token: "it pays another token",
  wrong_chain: "it pays on another chain",
  wrong_program: "the inbox program is another one, or a key can change it",
  wrong_solana_inbox: "the inbox on Solana that it bridges to is not as expected",
  fee_too_high: "the fee is higher than agreed",
  wrong_recovery:
    "its recovery address can take the money after the recovery date, so name it with --recovery if it is yours; or it names none, and --recovery expects one",
  wrong_routes:
    "it allows cross-chain routes that you did not accept, or does not list them; name chains that this release does not know, such as local ones, with --bridges",
};

export async function runVerify(input: CommandInput): Promise<number> {
  const { positionals, values, terminal, asJson } = input;
  if (values["payout"] === undefined)
    throw new UsageError("Missing option --payout ADDRESS: the wallet that you expect to be paid.");
  const payout = readPayout(values["payout"]);
  const { inboxes, intents } = readFile(positionals[0] ?? "-");
  if (values["inbox"] !== undefined && inboxes.length + intents.length > 1)
    throw new CommandError("--inbox compares one intent, and the file has several: remove it or split the file.");
  const verdicts = inboxes.map((inbox) => verifyOnEvm(inbox, payout, input));
  for (const intent of intents) verdicts.push(...(await verifySolanaIntent(intent, payout, input)));
  if (asJson) terminal.out(toJson(verdicts.map(toVerifyOutput)));
  else for (const line of verdicts.flatMap((verdict) => formatVerdict(verdict, terminal))) terminal.out(line);
  return verdicts.every(({ reason }) => reason === undefined) ? 0 : 1;
}

/** A payout wallet of either kind of chain. Throws UsageError. */
function readPayout(text: string): string {
  return parseKey(text) === undefined ? readAddress(text, "payout") : text;
}

/**
 * The inboxes of intents that are paid out on EVM chains, and the intents that are paid out on Solana. Throws
 * CommandError.
 */
function readFile(file: string): { inboxes: VerifiedInbox[]; intents: SolanaIntent[] } {
  const text = readFileText(file);
  try {
    const { intents, rest } = readSolanaIntents(readEntries(text));
    return { intents, inboxes: parseInboxEntries(rest) };
  } catch (error) {
    if (error instanceof InboxInputError) throw new CommandError(`${file}: ${error.message}`);
    throw error;
  }
}

function verifyOnEvm(inbox: VerifiedInbox, payout: string, input: CommandInput): InboxVerdict {
  const wallet = parseAddress(payout);
  return {
    intentId: inbox.intentId,
    inboxAddress: checksumAddress(inbox.address),
    reason: wallet === undefined ? "wrong_payout" : checkTerms(inbox, wallet, input),
    receiver: checksumAddress(inbox.terms.payout),
    lines: describeTerms(inbox, input),
  };
}

/**
 * Compares the terms with the options. An absent option takes its value from the terms; the output marks it as not
 * compared.
 */
function checkTerms(
  { address, terms, hub, routes }: VerifiedInbox,
  payoutWallet: Hex,
  { values }: CommandInput,
): VerifyReason | undefined {
  const wire = { ...termsToWire(terms, hub), routes: routes && routesToWire(routes) };
  const verified = verifyInbox(wire, {
    inboxAddress: values["inbox"] === undefined ? address : readAddress(values["inbox"], "inbox"),
    payoutWallet,
    token: values["token"] === undefined ? terms.settleToken : readAddress(values["token"], "token"),
    chainId: values["chain"] === undefined ? terms.settleChainId : readChain(values["chain"], terms.settleChainId),
    feeBpsMax: values["fee-bps-max"] === undefined ? terms.feeBps : readNumber(values["fee-bps-max"], "fee-bps-max"),
    ...(values["recovery"] === undefined ? {} : { recovery: readAddress(values["recovery"], "recovery") }),
    ...(values["routes-root"] === undefined ? {} : { routesRoot: readRoutesRoot(values["routes-root"]) }),
    bridges: { cctpV2Chains: readBridges(values["bridges"]) },
  });
  return verified.ok ? undefined : verified.reason;
}

function readNumber(text: string, option: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new UsageError(`--${option} must be a whole number, not ${text}.`);
  return Number(text);
}

/** Resolves --chain. Offline, slug and name are only known for the chain of the terms. */
function readChain(typed: string, termsChainId: bigint): bigint {
  const paidOn = resolveChainId(String(termsChainId));
  const chain = resolveChainId(typed) ?? findChainByName(paidOn === undefined ? [] : [paidOn], typed);
  if (chain !== undefined) return BigInt(chain.chainId);
  throw new UsageError(
    `--chain ${typed} does not name chain ${termsChainId}, on which these terms pay out: give a chain id or CAIP-2.`,
  );
}

function readRoutesRoot(text: string): Hex {
  if (!/^0x[0-9a-f]{64}$/i.test(text)) throw new UsageError("--routes-root must be 0x and 64 hex digits.");
  return `0x${text.slice(2).toLowerCase()}`;
}

function toVerifyOutput({ intentId, inboxAddress, tokenAccount, reason }: InboxVerdict) {
  return {
    intentId: intentId ?? null,
    inboxAddress,
    ...(tokenAccount === undefined ? {} : { tokenAccount }),
    ok: reason === undefined,
    reason: reason ?? null,
  };
}

function formatVerdict(
  { intentId, inboxAddress, reason, receiver, lines }: InboxVerdict,
  terminal: Terminal,
): string[] {
  const name = `${intentId === undefined ? "" : `${intentId} `}${inboxAddress}`;
  if (reason !== undefined) {
    const meaning = REASON_TEXTS[reason] ?? "it cannot be verified";
    return [`${terminal.paint("red", "✗")} ${name}: ${meaning} (${reason}). Do not show this address to a payer.`];
  }
  return [`${terminal.paint("green", "✓")} ${name} pays only ${receiver}`, ...lines];
}

function describeTerms({ terms, routes = [] }: VerifiedInbox, { values }: CommandInput): string[] {
  const comparisonNote = (option: string) => (values[option] === undefined ? " (from the terms, not compared)" : "");
  return [
    `  token ${checksumAddress(terms.settleToken)}${comparisonNote("token")} on chain ${terms.settleChainId}${comparisonNote("chain")}`,
    `  fee ${(terms.feeBps / 100).toFixed(2)} %${comparisonNote("fee-bps-max")} to ${checksumAddress(terms.feeRecipient)}`,
    ...(routes.length === 0 ? [] : [`  bridges to itself from chains ${listOrigins(routes)}`]),
    `  recovery ${describeRecovery(terms)}`,
  ];
}

function describeRecovery({ recovery, recoverAfter }: Terms): string {
  if (recovery === zeroAddress) return "by nobody: what cannot be settled or bridged stays in the inbox";
  return `by ${checksumAddress(recovery)}: other tokens now, everything from ${formatDay(recoverAfter)}`;
}

function listOrigins(routes: readonly Route[]): string {
  return [...new Set(routes.map(({ chainId }) => chainId.toString()))].join(", ");
}
