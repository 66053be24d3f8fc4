import { checksumAddress } from "@tributary/inbox/checksum";
import { computeRoutesRoot } from "@tributary/inbox/routes";
import type { Hex } from "@tributary/inbox/terms";
import { verifyInbox, type VerifyReason } from "@tributary/inbox/verify";
import { termsToWire } from "@tributary/inbox/wire";
import type { VerifiedInbox } from "@tributary/recover/parseInboxes";
import { formatDay } from "@tributary/recover/format";
import { resolveChainId, findChainByName } from "../../config/chainName.ts";
import type { Command, CommandInput } from "../command.ts";
import { CommandError, UsageError } from "../../operator/errors.ts";
import { readAddress, readInboxes } from "../recover/recoverInput.ts";
import { toJson, type Terminal } from "../../operator/process/terminal.ts";

export const verify: Command = {
  name: "verify",
  summary: "Check, without a network, that money sent to an inbox can reach nobody but the payout wallet, less the fee",
  positionals: [{ name: "file", summary: "the intent as the API answered it, or several; - reads standard input" }],
  options: {
    payout: { value: "ADDRESS", summary: "the wallet that must be paid: from your own notes, not from the answer" },
    inbox: { value: "ADDRESS", summary: "the address that was shown to the payer; the answer's own when left out" },
    token: { value: "ADDRESS", summary: "the token that must be paid out" },
    chain: {
      value: "CHAIN",
      summary: "where it must be paid out: chain id or CAIP-2, of public networks slug or name too",
    },
    "fee-bps-max": { value: "NUMBER", summary: "the highest fee you agreed to, in hundredths of a percent" },
    recovery: { value: "ADDRESS", summary: "your recovery address, when it is not the payout wallet" },
    "routes-root": { value: "HASH", summary: "root of the cross-chain routes you agreed to; none when left out" },
  },
  examples: [
    "tributary verify intent.json --payout 0x7099…79C8",
    "curl -s …/api/v1/intents/pi_… | tributary verify - --payout 0x7099…79C8 --chain 8453 --fee-bps-max 50",
  ],
  run: runVerify,
};

type InboxVerdict = { inbox: VerifiedInbox; reason: VerifyReason | undefined };

const REASON_TEXTS: Partial<Record<VerifyReason, string>> = {
  wrong_address: "another address was shown than these terms make",
  wrong_payout: "the money would go to another wallet",
  wrong_token: "another token would be paid out",
  wrong_chain: "it would be paid out on another chain",
  fee_too_high: "the fee is higher than agreed",
  wrong_recovery:
    "its recovery address could take the money out after the recovery date; name it with --recovery if it is yours",
  wrong_routes: "money could leave over bridges that were not agreed",
};

// eslint-disable-next-line typescript/require-await -- every command is asynchronous to its caller
async function runVerify(input: CommandInput): Promise<number> {
  const { positionals, values, terminal, asJson } = input;
  if (values["payout"] === undefined)
    throw new UsageError("verify needs --payout: the wallet that you expect to be paid.");
  const payout = readAddress(values["payout"], "payout");
  const inboxes = readInboxes(positionals[0] ?? "-");
  if (values["inbox"] !== undefined && inboxes.length > 1)
    throw new CommandError("--inbox is for one intent, and the file holds several.");
  const checked = inboxes.map((inbox) => ({ inbox, reason: checkTerms(inbox, payout, input) }));
  if (asJson) terminal.out(toJson(checked.map(toVerifyOutput)));
  else for (const line of checked.flatMap((one) => formatVerification(one, input, terminal))) terminal.out(line);
  return checked.every(({ reason }) => reason === undefined) ? 0 : 1;
}

/** What is not asked for is taken from the terms, and so passes; the lines say which that was. */
function checkTerms(
  { address, terms }: VerifiedInbox,
  payoutWallet: Hex,
  { values }: CommandInput,
): VerifyReason | undefined {
  const verified = verifyInbox(termsToWire(terms), {
    inboxAddress: values["inbox"] === undefined ? address : readAddress(values["inbox"], "inbox"),
    payoutWallet,
    token: values["token"] === undefined ? terms.settleToken : readAddress(values["token"], "token"),
    chainId: values["chain"] === undefined ? terms.settleChainId : readChain(values["chain"], terms.settleChainId),
    feeBpsMax: values["fee-bps-max"] === undefined ? terms.feeBps : readNumber(values["fee-bps-max"], "fee-bps-max"),
    ...(values["recovery"] === undefined ? {} : { recovery: readAddress(values["recovery"], "recovery") }),
    routesRoot: readRoutesRoot(values["routes-root"]),
  });
  return verified.ok ? undefined : verified.reason;
}

function readNumber(text: string, option: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new UsageError(`--${option} must be a whole number, not ${text}.`);
  return Number(text);
}

/** Without a network or a configuration only the terms' own chain can be known by slug and name. */
function readChain(typed: string, termsChainId: bigint): bigint {
  const paidOn = resolveChainId(String(termsChainId));
  const chain = resolveChainId(typed) ?? findChainByName(paidOn === undefined ? [] : [paidOn], typed);
  if (chain !== undefined) return BigInt(chain.chainId);
  throw new UsageError(
    `--chain ${typed} is no name of chain ${termsChainId}, where these terms pay out: give a chain id or CAIP-2.`,
  );
}

function readRoutesRoot(text: string | undefined): Hex {
  if (text === undefined) return computeRoutesRoot([]);
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
  const { address, terms, intentId } = inbox;
  const name = `${intentId === undefined ? "" : `${intentId} `}${checksumAddress(address)}`;
  if (reason !== undefined) {
    const meaning = REASON_TEXTS[reason] ?? "it cannot be verified";
    return [`${terminal.paint("red", "✗")} ${name}: ${meaning} (${reason}). Do not show this address.`];
  }
  const comparisonNote = (option: string) => (values[option] === undefined ? " (as the terms say; not compared)" : "");
  return [
    `${terminal.paint("green", "✓")} ${name} pays ${checksumAddress(terms.payout)} and nobody else`,
    `  token ${checksumAddress(terms.settleToken)}${comparisonNote("token")} on chain ${terms.settleChainId}${comparisonNote("chain")}`,
    `  fee ${(terms.feeBps / 100).toFixed(2)} %${comparisonNote("fee-bps-max")} to ${checksumAddress(terms.feeRecipient)}`,
    `  recovery ${checksumAddress(terms.recovery)}, wrong assets at once, everything from ${formatDay(terms.recoverAfter)}`,
  ];
}
