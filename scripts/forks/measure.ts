import { DEV_ACCOUNTS } from "../../src/dev/devAccounts.ts";
import { TRANSACTION_GAS_MAX } from "@tributary/inbox/gasLimit";
import { measureSlotGas } from "../../src/chain/evm/network/probes.ts";
import { estimateSettlementGas } from "../../src/chain/evm/send/settlementGas.ts";
import { openScene, type Scene } from "./scene.ts";
import type { Fork } from "./evm.ts";

// The gas of real transactions, by rule set.

const BATCH = 60;
const SMALL = 20;

export type Figures = Readonly<Record<string, bigint>>;

export async function measureFork(fork: Fork): Promise<Figures> {
  const scene = await openScene(fork);
  const { chain, terms } = scene;
  const first = await settleFunded(scene, "first");
  const repeat = await settleFunded(scene, "first");
  const fresh = await batchGas(scene, { name: "batch", count: BATCH });
  const small = await batchGas(scene, { name: "small", count: SMALL });
  const again = await batchGas(scene, { name: "batch", count: BATCH });
  const stranger = { ...terms("new holders"), payout: DEV_ACCOUNTS.recoveryFirst.address };
  const toNewHolder = await settleFunded(scene, stranger);
  const node = { call: (call: { to?: string; data: string }) => chain.simulate(call.data as `0x${string}`) };
  return {
    "a new storage slot": await measureSlotGas(node),
    "first settlement of an inbox": first,
    "settlement of an inbox that exists": repeat,
    "first settlement, to a payout wallet without a balance": toNewHolder,
    [`a batch of ${BATCH} fresh inboxes`]: fresh,
    [`a batch of ${BATCH} inboxes that exist`]: again,
    "fresh inboxes in a transaction of 16.78 M gas, by these": largestBatch(
      { count: SMALL, gas: small },
      { count: BATCH, gas: fresh },
    ),
    "deployment of the hub": scene.hubGas,
    "what the service estimates for a first settlement": await estimateSettlementGas(node),
  };
}

async function settleFunded(scene: Scene, of: string | ReturnType<Scene["terms"]>): Promise<bigint> {
  const terms = typeof of === "string" ? scene.terms(of) : of;
  await scene.fund(terms);
  const sent = await scene.settle([terms]);
  if (sent.isReverted || (await scene.inboxBalance(terms)) !== 0n) throw new Error("an inbox was not settled");
  return sent.gas;
}

async function batchGas(scene: Scene, { name, count }: { name: string; count: number }): Promise<bigint> {
  const items = Array.from({ length: count }, (_, index) => scene.terms(`${name} ${index}`));
  for (const item of items) await scene.fund(item);
  const sent = await scene.settle(items, scene.gasMax);
  if (sent.isReverted) throw new Error(`a batch of ${count} reverted`);
  return sent.gas;
}

/** How many fresh inboxes are within the gas of a transaction, by what two batches used. */
function largestBatch(smaller: { count: number; gas: bigint }, larger: { count: number; gas: bigint }): bigint {
  const each = (larger.gas - smaller.gas) / BigInt(larger.count - smaller.count);
  return (TRANSACTION_GAS_MAX - (larger.gas - each * BigInt(larger.count))) / each;
}
