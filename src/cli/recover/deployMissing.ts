import { cctpV2AdapterAddress } from "@tributary/inbox/cctpV2Adapter";
import { buildDeployAdapterCall } from "@tributary/recover/bridge/bridgeCalls";
import { buildDeployHubCall, type ContractCall } from "@tributary/recover/contractCalls";
import type { ChainInspection } from "@tributary/recover/inspectChain";
import type { VerifiedInbox } from "@tributary/recover/parseInboxes";
import { CommandError } from "../../operator/errors.ts";
import type { RecoverContext, RecoverTransaction } from "./recoverTransaction.ts";

// A contract that a chain lacks is deployed first, at the address that it has on every chain. Anyone may do so.

/** Deploys the missing hubs of the inboxes. Throws CommandError where no hub can exist. */
export async function deployMissingHubs(
  inboxes: readonly VerifiedInbox[],
  { hub, absentHubs, canDeployHub, chainId }: ChainInspection,
  context: RecoverContext,
): Promise<RecoverTransaction[]> {
  if (hub === "foreign" || (hub === "absent" && !canDeployHub))
    throw new CommandError(`The hub cannot be deployed on chain ${chainId}, so its inboxes cannot be opened.`);
  const transactions: RecoverTransaction[] = [];
  for (const absent of absentHubs) {
    if (!inboxes.some((inbox) => inbox.hub === absent)) continue;
    context.note(`Deploying the hub on chain ${chainId}. This is needed once for all inboxes.`);
    transactions.push(await deploy(buildDeployHubCall(absent), chainId, context));
  }
  return transactions;
}

/** Deploys the adapter of the routes if the chain lacks it. */
export async function deployMissingAdapter(
  { chainId }: ChainInspection,
  context: RecoverContext,
): Promise<RecoverTransaction[]> {
  const code = await context.request("eth_getCode", [cctpV2AdapterAddress, "latest"]);
  if (code !== "0x") return [];
  context.note(`Deploying the adapter of the routes on chain ${chainId}. This is needed once for all inboxes.`);
  return [await deploy(buildDeployAdapterCall(), chainId, context)];
}

async function deploy(
  call: ContractCall,
  chainId: bigint,
  { wallet, note }: RecoverContext,
): Promise<RecoverTransaction> {
  const txHash = await wallet.send(call, (hash) => note(`  sent ${hash}`));
  return { what: "deploy", chainId: String(chainId), txHash, moved: [] };
}
