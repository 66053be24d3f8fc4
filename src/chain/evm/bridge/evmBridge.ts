import { hubAbi } from "@tributary/inbox/hubAbi";
import type { Hex } from "@tributary/inbox/terms";
import { TRANSACTION_GAS_MAX } from "@tributary/inbox/gasLimit";
import { decodeFunctionResult, encodeFunctionData, parseAbi } from "viem";
import { ProviderFailed } from "../../reader.ts";
import {
  PayerRefused,
  SettleRefused,
  type BridgeSender,
  type BurnItem,
  type MintItem,
  type MintOutlook,
} from "../../sender.ts";
import { CallReverted, type EvmNode } from "../node.ts";
import { prepareCall } from "../send/prepareCall.ts";
import type { SenderContext } from "../send/senderContext.ts";
import { evmTerms, type SettleCall } from "../send/settleCall.ts";
import { findGasLimit } from "../send/simulateSettlement.ts";

// Bridges inboxes by the hub, and receives for them. The adapter takes no quote: the route decides everything but the
// moment.

const transmitterAbi = parseAbi([
  "function receiveMessage(bytes message, bytes attestation) returns (bool success)",
  "function usedNonces(bytes32 nonce) view returns (uint256)",
]);
const tokenAbi = parseAbi(["function balanceOf(address account) view returns (uint256)"]);
const NO_QUOTE: Hex = "0x";
/** A balance that needs more burns than this waits for a higher limit: each burn costs a transaction on both chains. */
const BURNS_MAX = 100n;
const LOOK_MS = 30_000;
/** What Circle's contracts say to a message whose last block has passed. */
const EXPIRED = /expired/i;

/** `transmitter`: the contract that receives the bridge's messages on this chain. */
export function openEvmBridge(context: SenderContext, transmitter: Hex): BridgeSender {
  return {
    burnRefusal: (item) => findBurnRefusal(context, item),
    prepareBurn: (world, item) =>
      prepareCall(world, context, async () => {
        const call = burnCall(item);
        return { call, gasLimit: await findBurnGas(context, call) };
      }),
    mintOutlook: (item) => findMintOutlook(context, transmitter, item),
    workMax: TRANSACTION_GAS_MAX,
    lookMs: LOOK_MS,
    prepareMint: (world, item) =>
      prepareCall(world, context, async () => {
        const call = await planMint(context, transmitter, item);
        return { call, gasLimit: await findGasLimit(context, call) };
      }),
  };
}

function burnCall(item: BurnItem): SettleCall {
  const { way } = item;
  if (way.kind !== "leaf") throw new Error(`the way of inbox ${item.inbox} is not one of an EVM chain`);
  const args = [evmTerms(item), way.route, [...way.routeProof], NO_QUOTE] as const;
  return {
    to: item.hub,
    data: encodeFunctionData({ abi: hubAbi, functionName: "bridge", args }),
    failuresIn: () => [],
  };
}

/** The issuer can refuse burns of one account, whatever inbox it is for. */
async function findBurnGas(context: SenderContext, call: SettleCall): Promise<bigint> {
  try {
    return await findGasLimit(context, call);
  } catch (error) {
    if (!(error instanceof CallReverted)) throw error;
    const { to, data } = call;
    const isOpenToOthers = await context.providers.call({ to, data }).then(
      () => true,
      () => false,
    );
    if (isOpenToOthers) throw new PayerRefused(error.message, { cause: error });
    throw error;
  }
}

/** Every provider must refuse, as for a settlement. */
async function findBurnRefusal({ providers }: SenderContext, item: BurnItem): Promise<string | undefined> {
  const { to, data } = burnCall(item);
  const balanceCall = {
    to: item.token as Hex,
    data: encodeFunctionData({ abi: tokenAbi, functionName: "balanceOf", args: [item.inbox as Hex] }),
  };
  const refusalOf = async (node: EvmNode): Promise<string | undefined> => {
    try {
      // Read before the amount: what arrives meanwhile makes the amount larger only.
      const balance = BigInt(await node.call(balanceCall));
      const units = decodeFunctionResult({
        abi: hubAbi,
        functionName: "bridge",
        data: (await node.call({ to, data })) as Hex,
      });
      if (units === 0n) return "nothing_to_bridge";
      return units * BURNS_MAX < balance ? "above_bridge_limit" : undefined;
    } catch (error) {
      if (error instanceof CallReverted) return `bridge_refused ${error.message}`;
      throw error;
    }
  };
  const first = await refusalOf(providers);
  if (first === undefined || providers.providerCount < 2) return first;
  return (await providers.runLastFirst(refusalOf)) && first;
}

function mintData(item: MintItem, transmitter: Hex): Hex {
  const args = [transmitter, item.message as Hex, item.attestation as Hex, evmTerms(item)] as const;
  return encodeFunctionData({ abi: hubAbi, functionName: "receiveAndSettle", args });
}

type MintResult = { received: boolean; grossUnits: bigint };

function decodeMint(result: string): MintResult {
  try {
    const data = result as Hex;
    const [received, grossUnits] = decodeFunctionResult({ abi: hubAbi, functionName: "receiveAndSettle", data });
    return { received, grossUnits };
  } catch (error) {
    throw new ProviderFailed("bad_answer", "the hub's answer cannot be read", { cause: error });
  }
}

/**
 * The call that receives and settles. A failed receipt reverts nothing, so it counts as done only when it receives as
 * it does with plenty of gas. Throws SettleRefused when it would move nothing.
 */
async function planMint({ providers }: SenderContext, transmitter: Hex, item: MintItem): Promise<SettleCall> {
  const [to, data] = [item.hub, mintData(item, transmitter)];
  const expected = decodeMint(await providers.call({ to, data }));
  if (expected.grossUnits === 0n) throw new SettleRefused("nothing would be received");
  return {
    to,
    data,
    failuresIn: (result) => {
      const { received, grossUnits } = decodeMint(result);
      return [grossUnits === 0n || received !== expected.received ? "not_received" : undefined];
    },
  };
}

async function findMintOutlook({ providers }: SenderContext, transmitter: Hex, item: MintItem): Promise<MintOutlook> {
  const data = mintData(item, transmitter);
  let result: MintResult;
  try {
    result = decodeMint(await providers.call({ to: item.hub, data }));
  } catch (error) {
    if (error instanceof CallReverted) return { kind: "refused", reason: `settle_refused ${error.message}` };
    throw error;
  }
  if (result.received) return { kind: "moves" };
  const abi = transmitterAbi;
  const nonce = item.mint.split("/").at(-1) as Hex;
  const used = encodeFunctionData({ abi, functionName: "usedNonces", args: [nonce] });
  if (BigInt(await providers.call({ to: transmitter, data: used })) !== 0n) {
    return { kind: result.grossUnits > 0n ? "moves" : "received" };
  }
  // A receipt that fails reverts nothing: the transmitter itself tells why. Other money in the inbox is not this
  // crossing's: anybody can send a small burn, and every one would buy a transaction that receives nothing.
  const args = [item.message as Hex, item.attestation as Hex] as const;
  try {
    const receive = encodeFunctionData({ abi, functionName: "receiveMessage", args });
    await providers.call({ to: transmitter, data: receive });
  } catch (error) {
    if (!(error instanceof CallReverted)) throw error;
    return EXPIRED.test(error.message) ? { kind: "expired" } : { kind: "unproven", reason: error.message };
  }
  return { kind: "refused", reason: "nothing_would_be_received" };
}
