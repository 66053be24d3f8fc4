import { checksumAddress } from "@tributary/inbox/checksum";
import type { Route } from "@tributary/inbox/routes";
import type { Hex } from "@tributary/inbox/terms";
import { verifyInbox, type VerifyReason } from "@tributary/inbox/verify";
import { routesToWire, termsToWire } from "@tributary/inbox/wire";
import type { VerifiedInbox } from "@tributary/recover/parseInboxes";
import { formatDay } from "@tributary/recover/format";
import { resolveChainId, findChainByName } from "../../config/chainName.ts";
import type { Command, CommandInput } from "../command.ts";
import { CommandError, UsageError } from "../../operator/errors.ts";
import { readAddress, readBridges, readInboxes } from "../recover/recoverInput.ts";
import { toJson, type Terminal } from "../../operator/process/terminal.ts";

export const verify: Command = {
  name: "verify",
  summary: "Check offline that an inbox pays only your payout wallet, less the fee",
  positionals: [{ name: "file", summary: "one or more intents as the API returned them; - reads standard input" }],
  options: {
    payout: { value: "ADDRESS", summary: "your payout wallet, from your own records and not from the API" },
    inbox: { value: "ADDRESS", summary: "address that the payer saw; default the intent's inbox" },
    token: { value: "ADDRESS", summary: "expected payout token" },
    chain: {
      value: "CHAIN",
      summary: "expected payout chain: chain id or CAIP-2; for public networks also slug or name",
    },
    "fee-bps-max": { value: "NUMBER", summary: "highest accepted fee, in hundredths of a percent" },
    recovery: { value: "ADDRESS", summary: "your recovery address, if it is not the payout wallet" },
    "routes-root": {
      value: "HASH",
      summary: "root of the accepted cross-chain routes; default those that only bridge USDC to the same inbox",
    },
    bridges: { value: "FILE", summary: "Circle's contracts on chains that this release does not know, as JSON" },
  },
  examples: [
    "tributary verify intent.json --payout 0x7099…79C8",
    "curl -s …/api/v1/intents/pi_… | tributary verify - --payout 0x7099…79C8 --chain 8453 --fee-bps-max 50",
  ],
  run: runVerify,
};

type InboxVerdict = { inbox: VerifiedInbox; reason: VerifyReason | undefined };

const REASON_TEXTS: Partial<Record<VerifyReason, string>> = {
  wrong_address: "the address does not match these terms",
  wrong_payout: "it pays another wallet",
  wrong_token: "it pays another token",
  wrong_chain: "it pays on another chain",
  fee_too_high: "the fee is higher than agreed",
  wrong_recovery:
    "its recovery address can take the money after the recovery date; name it with --recovery if it is yours",
  wrong_routes:
    "it allows cross-chain routes that you did not accept, or does not list them; name chains that this release does not know, such as local ones, with --bridges",
};

// eslint-disable-next-line typescript/require-await -- the type of a command requires a promise
async function runVerify(input: CommandInput): Promise<number> {
  const { positionals, values, terminal, asJson } = input;
  if (values["payout"] === undefined)
    throw new UsageError("Missing option --payout ADDRESS: the wallet that you expect to be paid.");
  const payout = readAddress(values["payout"], "payout");
  const inboxes = readInboxes(positionals[0] ?? "-");
  if (values["inbox"] !== undefined && inboxes.length > 1)
    throw new CommandError("--inbox compares one intent, and the file has several: remove it or split the file.");
  const checked = inboxes.map((inbox) => ({ inbox, reason: checkTerms(inbox, payout, input) }));
  if (asJson) terminal.out(toJson(checked.map(toVerifyOutput)));
  else for (const line of checked.flatMap((one) => formatVerification(one, input, terminal))) terminal.out(line);
  return checked.every(({ reason }) => reason === undefined) ? 0 : 1;
}

/** Compares the terms with the options. An absent option takes its value from the terms; the output marks it as not compared. */
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

function toVerifyOutput({ inbox, reason }: InboxVerdict) {
  const { intentId, address } = inbox;
  return {
    intentId: intentId ?? null,
    inboxAddress: checksumAddress(address),
    ok: reason === undefined,
    reason: reason ?? null,
  };
}

function formatVerification({ inbox, reason }: InboxVerdict, { values }: CommandInput, terminal: Terminal): string[] {
  const { address, terms, intentId, routes = [] } = inbox;
  const name = `${intentId === undefined ? "" : `${intentId} `}${checksumAddress(address)}`;
  if (reason !== undefined) {
    const meaning = REASON_TEXTS[reason] ?? "it cannot be verified";
    return [`${terminal.paint("red", "✗")} ${name}: ${meaning} (${reason}). Do not show this address to a payer.`];
  }
  const comparisonNote = (option: string) => (values[option] === undefined ? " (from the terms, not compared)" : "");
  return [
    `${terminal.paint("green", "✓")} ${name} pays only ${checksumAddress(terms.payout)}`,
    `  token ${checksumAddress(terms.settleToken)}${comparisonNote("token")} on chain ${terms.settleChainId}${comparisonNote("chain")}`,
    `  fee ${(terms.feeBps / 100).toFixed(2)} %${comparisonNote("fee-bps-max")} to ${checksumAddress(terms.feeRecipient)}`,
    ...(routes.length === 0 ? [] : [`  bridges to itself from chains ${listOrigins(routes)}`]),
    `  recovery by ${checksumAddress(terms.recovery)}: other tokens now, everything from ${formatDay(terms.recoverAfter)}`,
  ];
}

function listOrigins(routes: readonly Route[]): string {
  return [...new Set(routes.map(({ chainId }) => chainId.toString()))].join(", ");
}
