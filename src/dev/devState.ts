import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { addMember } from "../dashboard/members.ts";
import { listMemberRows } from "../dashboard/memberStore.ts";
import { displayAddress, namespaceOf, referenceOf } from "../kernel/caip.ts";
import { createAccount } from "../merchant/createAccount.ts";
import { createKey } from "../merchant/keys/createKey.ts";
import { listAccounts } from "../merchant/listAccounts.ts";
import { SCOPES } from "../merchant/keys/scopes.ts";
import type { World } from "../world.ts";
import { CommandError } from "../operator/errors.ts";
import { DEV_ACCOUNTS, type DevRole } from "./devAccounts.ts";
import { DEV_FEE_BPS } from "./devConfig.ts";
import type { LocalChain } from "./chains/localChains.ts";
import type { ManifestAccount } from "./manifest.ts";

/** The demo merchants. Each has its payout on a different chain. */
const MERCHANTS: readonly { name: string; payout: DevRole; recovery: DevRole; chainIndex: number }[] = [
  { name: "Harbor Books", payout: "payoutFirst", recovery: "recoveryFirst", chainIndex: 0 },
  { name: "Summit Coffee", payout: "payoutSecond", recovery: "recoverySecond", chainIndex: 1 },
];

/** Stored beside chains and database, because keys cannot be restored from their hashes. */
type DevState = { genesisHashes: Record<string, string>; accounts: ManifestAccount[] };

/** `solanaKeys`: the merchants' recovery keys on Solana, in their order. */
type MerchantParts = { chains: readonly LocalChain[]; solanaKeys: readonly string[] };

/**
 * Restores the demo merchants of a stored world, or creates new ones.
 * @throws CommandError when the directory's chains, database and merchants do not match.
 */
export async function restoreMerchants(
  world: World,
  { directory, ...parts }: MerchantParts & { directory: string | undefined },
): Promise<ManifestAccount[]> {
  const { chains } = parts;
  if (directory === undefined) return createMerchants(world, parts);
  const file = join(directory, "world.json");
  const stored = readDevState(file);
  const genesisHashes = Object.fromEntries(chains.map((chain) => [chain.caip2, chain.genesisHash]));
  if (stored === undefined) {
    if ((await listAccounts(world, { limit: 1 })).length > 0)
      throw stateMismatch(directory, "has a database but no world.json");
    const accounts = await createMerchants(world, parts);
    writeFileSync(file, `${JSON.stringify({ genesisHashes, accounts } satisfies DevState, undefined, 2)}\n`, {
      mode: 0o600,
    });
    return accounts;
  }
  const changed = chains.find((chain) => stored.genesisHashes[chain.caip2] !== chain.genesisHash);
  if (changed !== undefined)
    throw stateMismatch(directory, `has a state of another ${changed.name} with a different genesis block`);
  const known = new Set((await listAccounts(world, { limit: 1_000 })).map(({ id }) => id));
  if (stored.accounts.some(({ accountId }) => !known.has(accountId)))
    throw stateMismatch(directory, "has a state of another database");
  return stored.accounts;
}

function stateMismatch(directory: string, what: string): CommandError {
  return new CommandError(`${directory} ${what}: remove the directory to start again, or name another one in --keep.`);
}

function readDevState(file: string): DevState | undefined {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as DevState;
  } catch {
    return undefined;
  }
}

async function createMerchants(world: World, { chains, solanaKeys }: MerchantParts): Promise<ManifestAccount[]> {
  const accounts: ManifestAccount[] = [];
  for (const { name, payout, recovery, chainIndex } of MERCHANTS) {
    const solanaRecovery = solanaKeys[chainIndex];
    const chain = chains[chainIndex]?.caip2;
    if (chain === undefined) throw new CommandError("The dev world has fewer chains than its merchants need.");
    const wallet = DEV_ACCOUNTS[payout].address;
    const { id } = await createAccount(world, {
      name,
      feeBps: DEV_FEE_BPS,
      recovery: DEV_ACCOUNTS[recovery].address,
      ...(solanaRecovery !== undefined && { solanaRecovery }),
      payout: { namespace: namespaceOf(chain), chainReference: referenceOf(chain), wallet, currency: "USDC" },
    });
    const { apiKey } = await createKey(world, { accountId: id, scopes: SCOPES });
    const { apiKey: unscopedKey } = await createKey(world, { accountId: id, scopes: [] });
    accounts.push({ name, accountId: id, apiKey, unscopedKey, payoutWallet: displayAddress(chain, wallet) });
  }
  return accounts;
}

/** A merchant's wallet is the owner of its dashboard. */
export async function ensureOwners(world: World, accounts: readonly ManifestAccount[]): Promise<void> {
  for (const { accountId, payoutWallet: wallet, name } of accounts)
    if ((await listMemberRows(world.db.root, accountId)).length === 0)
      await addMember(world, { accountId, wallet, role: "owner", name }, "operator");
}
