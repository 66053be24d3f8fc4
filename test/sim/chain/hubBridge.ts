import { computeInboxAddress } from "@tributary/inbox/address";
import { decodeCctpV2Config } from "@tributary/inbox/cctpV2";
import { cctpV2AdapterAddress } from "@tributary/inbox/cctpV2Adapter";
import { hubAddress } from "@tributary/inbox/hub";
import { hashRoute, type Route } from "@tributary/inbox/routes";
import type { Hex, Terms } from "@tributary/inbox/terms";
import { concat, encodeFunctionData, keccak256, toFunctionSelector } from "viem";
import { encodeWord } from "./abiWords.ts";
import { bridgeAbi, burnLimitKey } from "./bridge.ts";
import type { CallOutcome, Machine } from "./machine.ts";
import { codeKey, unitsKey } from "./state.ts";

// The hub's calls that bridge an inbox, and that receive for one.

const PPM = 1_000_000n;

const refusals = {
  settledHere: toFunctionSelector("SettledHere()"),
  wrongChain: toFunctionSelector("WrongChain()"),
  noSuchRoute: toFunctionSelector("NoSuchRoute(bytes32)"),
  noAdapter: toFunctionSelector("NoAdapter(address)"),
  belowMinimum: toFunctionSelector("BelowMinimum(uint256,uint256)"),
};

type BridgeCall = { terms: Terms; route: Route; proof: readonly Hex[] };

/** Gives an inbox's balance to the bridge, over a route that its terms commit to. */
export function bridgeInbox(machine: Machine, minter: string, { terms, route, proof }: BridgeCall): CallOutcome {
  machine.useGas(12_000n);
  if (machine.chainId === terms.settleChainId) return { ok: false, output: refusals.settledHere };
  if (machine.chainId !== route.chainId) return { ok: false, output: refusals.wrongChain };
  if (rootOf(hashRoute(route), proof) !== terms.routesRoot) return { ok: false, output: refusals.noSuchRoute };
  if (route.adapter !== cctpV2AdapterAddress) return { ok: false, output: refusals.noAdapter };
  const inbox = computeInboxAddress(terms);
  const units = machine.state.get(unitsKey(route.token, inbox));
  if (units === 0n) return { ok: true, output: `0x${encodeWord(0n)}` };
  if (units < route.minAmount) return { ok: false, output: refusals.belowMinimum };
  const limit = machine.state.get(burnLimitKey(minter));
  const amount = limit > 0n && limit < units ? limit : units;
  deployInbox(machine, inbox);
  const { messenger, domain, feePpmMax, finalityThresholdMin } = decodeCctpV2Config(route.config);
  const feeMax = (amount * BigInt(feePpmMax) + PPM - 1n) / PPM;
  const recipient: Hex = `0x${encodeWord(inbox)}`;
  const data = encodeFunctionData({
    abi: bridgeAbi,
    functionName: "depositForBurn",
    args: [amount, domain, recipient, route.token, `0x${encodeWord(0n)}`, feeMax, finalityThresholdMin],
  });
  const burnt = machine.call({ from: inbox, to: messenger, data });
  if (!burnt.ok) return burnt;
  machine.log({ address: hubAddress });
  return { ok: true, output: `0x${encodeWord(amount)}` };
}

/** Whether the transmitter received the message. A failure reverts nothing. */
export function receiveForInbox(
  machine: Machine,
  { transmitter, message, attestation }: { transmitter: Hex; message: Hex; attestation: Hex },
): boolean {
  const data = encodeFunctionData({ abi: bridgeAbi, functionName: "receiveMessage", args: [message, attestation] });
  return machine.call({ from: hubAddress, to: transmitter.toLowerCase(), data }).ok;
}

export function deployInbox(machine: Machine, inbox: string): void {
  if (machine.state.get(codeKey(inbox)) > 0n) return;
  machine.useGas(41_000n);
  machine.state.set(codeKey(inbox), 1n);
}

function rootOf(leaf: Hex, proof: readonly Hex[]): Hex {
  return proof.reduce((node, sibling) => keccak256(concat(node < sibling ? [node, sibling] : [sibling, node])), leaf);
}
