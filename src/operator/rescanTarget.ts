import { displayAddress } from "../kernel/caip.ts";
import { rescanChainTx, rescanIntent, type Rescan } from "../watch/reread/rescan.ts";
import type { World } from "../world.ts";
import { findChainByName, unknownChainMessage } from "../config/chainName.ts";
import { CommandError } from "./errors.ts";
import { requiredText, optionalNumber, optionalText } from "./operation/inputFields.ts";
import { defineOperatorOperation } from "./operation/operatorOperation.ts";

export type RescanOutput = {
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

/** Reads one transaction, or one intent's inbox, from the chain again. Recorded movements stay unchanged. */
export const rescan = defineOperatorOperation({
  effect: "write",
  input: { target: requiredText, chain: optionalText, blocks: optionalNumber({ min: 1, max: BLOCKS_MAX }) },
  run: rescanTarget,
});

type Target = { target: string; chain: string | undefined; blocks: number | undefined };

async function rescanTarget(world: World, { target, chain: name, blocks }: Target): Promise<RescanOutput[]> {
  const { chains } = world.catalog;
  const chain = name === undefined ? undefined : findChainByName(chains, name);
  if (name !== undefined && chain === undefined) throw new CommandError(unknownChainMessage(chains, name));
  if (target.startsWith("pi_")) {
    return toRescanOutputs(
      world,
      await rescanIntent(world, target, blocks === undefined ? {} : { blocks: BigInt(blocks) }),
    );
  }
  if (!/^0x[0-9a-fA-F]{64}$/.test(target))
    throw new CommandError(
      `<target> must be an intent id (pi_…) or a transaction hash (0x and 64 hex digits), not ${target}.`,
    );
  return toRescanOutputs(
    world,
    await rescanChainTx(world, {
      chainTx: target.toLowerCase(),
      ...(chain === undefined ? {} : { chain: chain.caip2 }),
    }),
  );
}

function toRescanOutputs(world: World, rescans: readonly Rescan[]): RescanOutput[] {
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
