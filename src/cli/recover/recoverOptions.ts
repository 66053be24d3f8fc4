import type { VerifiedInbox } from "@tributary/recover/parseInboxes";
import type { RpcRequester } from "@tributary/recover/rpc/rpcRequester";
import { UsageError } from "../../operator/errors.ts";
import type { CommandInput } from "../command.ts";
import type { ReceiveOptions } from "./receiveOnChain.ts";
import {
  readAddress,
  readAddresses,
  readAttestationUrl,
  readBridges,
  readBurnTxs,
  readFromBlock,
  readSignedBurn,
} from "./recoverInput.ts";
import type { RecoverOptions } from "./recoverOnChain.ts";

export type ChainAccess = {
  urls: readonly string[];
  /** Opens one chain for a task, and closes it afterwards. */
  withRpc: <T>(url: string, run: (request: RpcRequester, host: string) => Promise<T>) => Promise<T>;
};

export type RunOptions = RecoverOptions & { receive: ReceiveOptions | undefined; fromBlock: bigint };

/** Reads the options for EVM chains. Throws UsageError where they do not fit together. */
export function readRecoverOptions(input: CommandInput): RunOptions {
  const { values, flags } = input;
  const to = values["to"] === undefined ? undefined : readAddress(values["to"], "to");
  if (values["receive"] !== undefined && values["message"] !== undefined)
    throw new UsageError("--receive asks the attestation service for the message: give --receive or --message.");
  if (to !== undefined && !flags.has("rescue"))
    throw new UsageError("--to needs --rescue: --settle always pays the payout wallet of the terms.");
  if (flags.has("fast") && !flags.has("bridge"))
    throw new UsageError("--fast needs --bridge: it chooses the route of the bridge.");
  const bridges = readBridges(values["bridges"]);
  const attestationUrl = readAttestationUrl(values["attestation-url"]);
  const burnTxs = readBurnTxs(values["receive"]);
  const signed = readSignedBurn(input);
  const isReceiving = burnTxs.length > 0 || signed !== undefined;
  return {
    settle: flags.has("settle"),
    rescue: flags.has("rescue"),
    tokens: readAddresses(values["token"], "token"),
    to,
    speed: flags.has("bridge") ? (flags.has("fast") ? "fast" : "standard") : undefined,
    bridges,
    attestationUrl,
    receive: isReceiving ? { burnTxs, signed, bridges, attestationUrl } : undefined,
    fromBlock: readFromBlock(values["from-block"]),
  };
}

/** Whether the options send transactions. */
export function isSending({ settle, rescue, speed, receive }: RunOptions): boolean {
  return settle || rescue || speed !== undefined || receive !== undefined;
}

/** What is rescued into an inbox or a hub has not left it, or never leaves. Throws UsageError. */
export function requireReceiver({ to }: RunOptions, inboxes: readonly VerifiedInbox[]): void {
  const isInside = to !== undefined && inboxes.some(({ address, hub }) => address === to || hub.address === to);
  if (isInside) throw new UsageError(`--to ${to} is an inbox or a hub, not a wallet: nothing was sent.`);
}
