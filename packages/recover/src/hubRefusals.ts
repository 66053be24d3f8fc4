import { toFunctionSelector } from "./abi.ts";

// Why the hub or an inbox refuses a call, in words. Nodes show only the first four bytes of the error.

const REASONS: Readonly<Record<string, string>> = {
  "PayoutFailed()": "the token refuses the transfer to the payout wallet, which its issuer may block",
  "TransferFailed()":
    "the token refuses the transfer to the receiver, which its issuer may block: name another receiver",
  "NotRecovery(address,address)": "only the recovery address of its terms may rescue",
  "TooEarly(uint256,uint256)": "its recovery date has not come",
  "NothingToRescue()": "there is nothing to move any more",
  "NoReceiver()": "the receiver is the zero address",
  "WrongChain()": "its terms are for another chain",
  "SettledHere()": "this token is paid out here: settle it",
  "NoSuchRoute(bytes32)": "its terms do not contain this route",
  "NoAdapter(address)": "the adapter of the route is not on this chain",
  "BelowMinimum(uint256,uint256)": "it holds less than the minimum of the route",
  "UnitsLeft(uint256,uint256)": "the bridge took another amount than it was given",
  "UnitsMissing(uint256,uint256)": "the token moved less than it was asked to",
  "BalanceUnreadable()": "its token does not tell its balance",
  "FeeTooHigh()": "the fee of its terms is above the hub's cap",
  "MalformedTerms()": "its terms are malformed",
  "FeeLegStarved()": "too little gas was left for the fee",
  "Starved(uint256)": "too little gas was left",
};
const BY_SELECTOR = new Map(
  Object.entries(REASONS).map(([signature, reason]) => [toFunctionSelector(signature) as string, reason]),
);
const SELECTOR = /0x[0-9a-f]{8}/gi;
const DEPTH_MAX = 8;

/** The reason of the contracts; undefined where the error has none of theirs. */
export function findHubRefusal(error: unknown): string | undefined {
  let current: unknown = error;
  for (let depth = 0; typeof current === "object" && current !== null && depth < DEPTH_MAX; depth += 1) {
    const { message, data }: { message?: unknown; data?: unknown } = current;
    for (const text of [data, message]) {
      const selectors = typeof text === "string" ? [...text.matchAll(SELECTOR)] : [];
      const reason = selectors
        .map(([selector]) => BY_SELECTOR.get(selector.toLowerCase()))
        .find((each) => each !== undefined);
      if (reason !== undefined) return reason;
    }
    current = typeof data === "object" && data !== null ? data : Reflect.get(current, "cause");
  }
  return undefined;
}
