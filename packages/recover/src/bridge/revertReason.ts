import { hexToBytes } from "@noble/hashes/utils";

const ERROR_SELECTOR = "0x08c379a0";
const REASON_LENGTH_MAX = 200;
const REVERT = /revert|invalid opcode|out of gas|vm execution error/i;

/**
 * The contract's reason for a failed call; undefined when the failure is not the contract's. Nodes and wallets put it
 * into the message, into the data, or into a nested error.
 */
export function findRevertReason(error: unknown): string | undefined {
  const texts: string[] = [];
  let current: unknown = error;
  while (typeof current === "object" && current !== null && texts.length < 8) {
    const { message, data }: { message?: unknown; data?: unknown } = current;
    if (typeof data === "string" && data.startsWith(ERROR_SELECTOR)) return decodeReason(data) ?? "reverted";
    if (typeof message === "string") texts.push(message);
    current = typeof data === "object" && data !== null ? data : Reflect.get(current, "cause");
  }
  const text = texts.find((each) => REVERT.test(each));
  // Some wallets put their whole request before the reason.
  return text === undefined || text.length <= REASON_LENGTH_MAX
    ? text
    : text.slice(text.search(REVERT)).slice(0, REASON_LENGTH_MAX);
}

/** The text of Solidity's `Error(string)`. */
function decodeReason(data: string): string | undefined {
  const digits = data.slice(ERROR_SELECTOR.length);
  const length = Number.parseInt(digits.slice(64, 128), 16);
  const text = digits.slice(128, 128 + 2 * Math.min(length, REASON_LENGTH_MAX));
  return /^(?:[0-9a-f]{2})+$/i.test(text) ? new TextDecoder().decode(hexToBytes(text)) : undefined;
}
