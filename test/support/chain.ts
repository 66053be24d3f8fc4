import type { Hex, TransactionReceipt } from "viem";
import { systemTimer } from "../../src/kernel/clock.ts";
import { caip2, type Caip2 } from "../../src/kernel/caip.ts";
import { DEV_ACCOUNTS, type DevAccount } from "../../src/dev/devAccounts.ts";
import { startAnvil } from "../../src/dev/chains/anvil.ts";
import {
  createDevClient,
  sendCallsOrThrow,
  sendCalls,
  sendSigned,
  signCalls,
  type ContractCall,
  type DevClient,
} from "../../src/dev/chains/devClient.ts";
import { HUB, type Deployment } from "../../src/dev/chains/contracts.ts";
import { deployFixtures, type LocalToken } from "../../src/dev/chains/localChains.ts";
import * as tokens from "../../src/dev/chains/tokens.ts";

// A chain that moves only on request: one block for each transaction, and no other block.

/** The signed transactions of replacement blocks, each with the index of its block from 0. */
export type Replacement = readonly { signed: Hex; blockIndex: number }[];

export interface TestChain {
  caip2: Caip2;
  chainId: number;
  rpcUrl: string;
  pid: number;
  client: DevClient;
  hub: Hex;
  /** 6 decimals. */
  usdc: LocalToken;
  /** 18 decimals. */
  dusd: LocalToken;
  /** Transfers from the payer, or from another account, in a block of its own. Throws when it reverts. */
  pay(token: Hex, to: Hex, transfer: Amount): Promise<TransactionReceipt>;
  /** Sends transfers of the payer, or of another account, in this order in one block. */
  payInOneBlock(transfers: readonly BlockTransfer[], from?: DevAccount): Promise<TransactionReceipt[]>;
  /** Sends calls of one account in order. Returns the receipts of reverted calls too. */
  send(account: DevAccount, calls: readonly ContractCall[]): Promise<TransactionReceipt[]>;
  /** Sends a signed transaction and waits until a block includes it, since anvil answers before it mines. */
  sendSigned(signed: Hex): Promise<TransactionReceipt>;
  /**
   * Waits until the accepted transactions are mined, since anvil answers before it mines. Returns at once while
   * automine is off.
   */
  untilMined(): Promise<void>;
  /** Mints tokens without a payer. */
  mint(token: Hex, to: Hex, amountUnits: bigint): Promise<TransactionReceipt>;
  blocklist(token: Hex, address: Hex): Promise<void>;
  unblocklist(token: Hex, address: Hex): Promise<void>;
  balanceOf(token: Hex, owner: Hex): Promise<bigint>;
  /** Adds empty blocks. */
  mine(blocks: number): Promise<void>;
  /** Adds empty blocks until the present head is `finalized` and the watcher rereads it. */
  finalize(): Promise<void>;
  /**
   * Replaces the last `depth` blocks with the same number of new ones. Transactions outside `replacement` are dropped.
   */
  reorg(depth: number, replacement?: Replacement): Promise<void>;
  /** Removes the last `depth` blocks without a replacement. */
  rollback(depth: number): Promise<void>;
  /** The signed bytes of a mined transaction, for mining them again elsewhere. */
  signedOf(hash: Hex): Promise<Hex>;
  /** Signs calls with the account's next nonces without sending them. */
  sign(account: DevAccount, calls: readonly ContractCall[]): Promise<Hex[]>;
  stop(): Promise<void>;
}

export interface BlockTransfer {
  token: Hex;
  to: Hex;
  amountUnits: bigint;
}

export interface Amount {
  amountUnits: bigint;
  /** Default: the payer. */
  from?: DevAccount;
}

export interface TestChainOptions {
  chainId?: number;
  hub?: Deployment;
  /** Mines a block in this interval, too. Below a second, blocks share their times. */
  blockTimeSeconds?: number;
}

const CHAIN_ID = 900_001;
/**
 * With one slot per epoch, `finalized` lies two blocks below the head. With one provider, the reread needs this depth
 * as well.
 */
const FINALITY_DEPTH = 16;

/** Calls methods of anvil that viem does not know. */
function requestRpc<Answer>(client: DevClient, method: string, params: unknown[]): Promise<Answer> {
  return client.request<{ Method: string; Parameters: unknown[]; ReturnType: Answer }>({ method, params });
}

/** Starts a chain with the contracts of the dev world. */
export async function startTestChain(options: TestChainOptions = {}): Promise<TestChain> {
  const { chainId = CHAIN_ID, hub = HUB, blockTimeSeconds } = options;
  const anvil = await startAnvil({ chainId, slotsInAnEpoch: 1, ...(blockTimeSeconds && { blockTimeSeconds }) });
  const client = createDevClient(anvil.rpcUrl);
  const fixtures = await deployFixtures(client, hub);
  const [usdc, dusd] = fixtures.tokens;
  if (!usdc || !dusd) throw new Error("the dev world has two tokens");
  const { rpcUrl, pid } = anvil;
  const stop = () => anvil.stop();
  const identity = { caip2: caip2("eip155", String(chainId)), chainId, rpcUrl, pid };
  return {
    ...identity,
    client,
    hub: fixtures.hub,
    usdc,
    dusd,
    ...tokenOperations(client),
    ...blockOperations(client),
    untilMined: () => untilMined(client),
    stop,
  };
}

const POLL_MS = 10;
const POLLS_MAX = 2_000;
/** After this many polls an empty block makes anvil mine what waits. */
const MINE_EVERY_POLLS = 100;

async function untilMined(client: DevClient): Promise<void> {
  if (!(await client.getAutomine())) return;
  for (let poll = 1; poll <= POLLS_MAX; poll += 1) {
    if ((await client.getTxpoolStatus()).pending === 0) return;
    if (poll % MINE_EVERY_POLLS === 0) await client.mine({ blocks: 1 });
    await systemTimer.sleep(POLL_MS);
  }
  throw new Error("accepted transactions were not mined");
}

function tokenOperations(client: DevClient) {
  const { payer, issuer } = DEV_ACCOUNTS;
  const performCall = async (account: DevAccount, call: ContractCall) => {
    const [receipt] = await sendCallsOrThrow(client, account, [call]);
    if (!receipt) throw new Error("a call has a receipt");
    return receipt;
  };
  return {
    pay: (token: Hex, to: Hex, { amountUnits, from = payer }: Amount) =>
      performCall(from, tokens.transferCall(token, to, amountUnits)),
    payInOneBlock: async (transfers: readonly BlockTransfer[], from: DevAccount = payer) => {
      const calls = transfers.map(({ token, to, amountUnits }) => tokens.transferCall(token, to, amountUnits));
      await client.setAutomine(false);
      const hashes = await Promise.all(
        (await signCalls(client, from, calls)).map((signed) =>
          client.sendRawTransaction({ serializedTransaction: signed }),
        ),
      );
      await client.mine({ blocks: 1 });
      await client.setAutomine(true);
      return Promise.all(hashes.map((hash) => client.getTransactionReceipt({ hash })));
    },
    sendSigned: (signed: Hex) => sendSigned(client, signed),
    send: (account: DevAccount, calls: readonly ContractCall[]) => sendCalls(client, account, calls),
    sign: (account: DevAccount, calls: readonly ContractCall[]) => signCalls(client, account, calls),
    mint: (token: Hex, to: Hex, amountUnits: bigint) => performCall(issuer, tokens.mintCall(token, to, amountUnits)),
    blocklist: (token: Hex, address: Hex) => tokens.blocklist(client, issuer, { token, address }),
    unblocklist: (token: Hex, address: Hex) => tokens.unblocklist(client, issuer, { token, address }),
    balanceOf: (token: Hex, owner: Hex) => tokens.balanceOf(client, token, owner),
  };
}

function blockOperations(client: DevClient) {
  return {
    mine: (blocks: number) => client.mine({ blocks }),
    finalize: () => client.mine({ blocks: FINALITY_DEPTH }),
    reorg: async (depth: number, replacement: Replacement = []) => {
      await requestRpc(client, "anvil_reorg", [
        depth,
        replacement.map(({ signed, blockIndex }) => [signed, blockIndex]),
      ]);
    },
    rollback: async (depth: number) => {
      await requestRpc(client, "anvil_rollback", [depth]);
    },
    signedOf: (hash: Hex) => requestRpc<Hex>(client, "eth_getRawTransactionByHash", [hash]),
  };
}
