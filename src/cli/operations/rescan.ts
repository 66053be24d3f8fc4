import { displayAddress } from "../../kernel/caip.ts";
import { rescanChainTx, rescanIntent, type Rescan } from "../../watch/rescan.ts";
import type { World } from "../../world.ts";
import { findNamedChain, unknownChain } from "../chainName.ts";
import { CommandFailed } from "../command.ts";
import { neededText, optionalNumber, optionalText } from "./input.ts";

export type ShownRescan = {
  chain: string;
  chainName: string;
  outcome: Rescan["outcome"];
  recorded: {
    intentId: string;
    direction: "in" | "out";
    amountUnits: string;
    token: string;
    txHash: string;
    blockNumber: number;
  }[];
};

const BLOCKS_MAX = 10_000_000;

/** Reads one transaction, or the inbox of one intent, from the chain again. What was recorded already stays as it is. */
export async function rescan(world: World, input: unknown): Promise<ShownRescan[]> {
  const target = neededText(input, "target");
  const name = optionalText(input, "chain");
  const { chains } = world.catalog;
  const chain = name === undefined ? undefined : findNamedChain(chains, name);
  if (name !== undefined && chain === undefined) throw new CommandFailed(unknownChain(chains, name));
  const blocks = optionalNumber(input, "blocks", { least: 1, most: BLOCKS_MAX });
  if (target.startsWith("pi_")) {
    return shown(world, await rescanIntent(world, target, blocks === undefined ? {} : { blocks: BigInt(blocks) }));
  }
  if (!/^0x[0-9a-fA-F]{64}$/.test(target))
    throw new CommandFailed(`${target} is neither an intent (pi_…) nor a transaction (0x and 64 hex digits).`);
  return shown(
    world,
    await rescanChainTx(world, { chainTx: target, ...(chain === undefined ? {} : { chain: chain.caip2 }) }),
  );
}

function shown(world: World, rescans: readonly Rescan[]): ShownRescan[] {
  return rescans.map(({ chain, outcome, recorded }) => ({
    chain,
    chainName: world.catalog.chains.find(({ caip2 }) => caip2 === chain)?.name ?? chain,
    outcome,
    recorded: recorded.map((movement) => ({
      intentId: movement.intent_id,
      direction: movement.direction,
      amountUnits: movement.amount_units.toString(),
      token: displayAddress(chain, movement.token),
      txHash: movement.chain_tx,
      blockNumber: Number(movement.block_number),
    })),
  }));
}
