import { getAddress, isAddress, isHash, parseAbiItem, TransactionReceiptNotFoundError, type Hex } from "viem";
import { DEV_ACCOUNTS, DEV_ROLES } from "../devAccounts.ts";
import { createDevClient, type DevClient } from "../chains/devClient.ts";
import type { LocalChain } from "../chains/localChains.ts";
import { balanceOf } from "../chains/tokens.ts";
import type { ChainExplorer } from "./chainExplorer.ts";
import {
  addressLink,
  balancesTable,
  escapeHtml,
  nameOfRole,
  renderFieldTable,
  renderExplorerPage,
  transfersTable,
  type AddressNames,
  type SiteLocation,
  type TransferRow,
} from "./explorerPages.ts";

// The explorer's pages of a local EVM chain.

const TRANSFER = parseAbiItem("event Transfer(address indexed from, address indexed to, uint256 value)");
const TRANSFERS_MAX = 50;
/** Blocks to search for transfers: 5.5 hours of one-second blocks. */
const BLOCKS_MAX = 20_000n;
const ETHER_DECIMALS = 18;

type ExplorerChain = { chain: LocalChain; client: DevClient; location: SiteLocation; names: AddressNames };

export function openEvmExplorer(chain: LocalChain): ChainExplorer {
  const explorer = openExplorerChain(chain);
  return {
    chainPage: () => renderChainPage(explorer),
    transactionPage: (hash) => renderTxPage(explorer, hash),
    addressPage: (address) => renderAddressPage(explorer, address),
    close: async () => undefined,
  };
}

function openExplorerChain(chain: LocalChain): ExplorerChain {
  const names = new Map<string, string>([
    ...DEV_ROLES.map((role): [string, string] => [DEV_ACCOUNTS[role].address, nameOfRole(role)]),
    ...chain.tokens.map((token): [string, string] => [token.address, `${token.symbol} contract`]),
    [chain.hub, "inbox hub"],
    [`0x${"0".repeat(40)}`, "zero address"],
  ]);
  const location = { chainName: chain.name, root: `/dev/explorer/${chain.chainId}` };
  return { chain, client: createDevClient(chain.rpcUrl), location, names };
}

async function renderChainPage(explorer: ExplorerChain): Promise<string> {
  const head = await explorer.client.getBlockNumber();
  const transfers = await findTransfers(explorer, { fromBlock: head > BLOCKS_MAX ? head - BLOCKS_MAX : 0n });
  const known = [...explorer.names.keys()].map((address) =>
    addressLink(getAddress(address), explorer.location, explorer.names),
  );
  const body = [
    renderFieldTable([
      ["Chain", `<code>${escapeHtml(explorer.chain.caip2)}</code>`],
      ["RPC", `<code>${escapeHtml(explorer.chain.rpcUrl)}</code>`],
      ["Head", `block ${head}`],
      ["Known", known.join(" · ")],
    ]),
    "<h2>Latest token transfers</h2>",
    transfersTable(transfers.toReversed().slice(0, TRANSFERS_MAX), explorer.location, explorer.names),
  ];
  return renderExplorerPage(explorer.chain.name, explorer.location, body.join(""));
}

async function renderTxPage(explorer: ExplorerChain, hash: string): Promise<string | undefined> {
  if (!isHash(hash)) return undefined;
  const receipt = await explorer.client.getTransactionReceipt({ hash }).catch((error: unknown) => {
    if (error instanceof TransactionReceiptNotFoundError) return undefined;
    throw error;
  });
  if (receipt === undefined) return undefined;
  const transfers = await findTransfers(explorer, { blockHash: receipt.blockHash });
  const status = receipt.status === "success" ? `<span class="ok">success</span>` : `<span class="bad">reverted</span>`;
  const body = [
    renderFieldTable([
      ["Status", status],
      ["Block", `${receipt.blockNumber} <span class="dim"><code>${escapeHtml(receipt.blockHash)}</code></span>`],
      ["From", addressLink(receipt.from, explorer.location, explorer.names)],
      ["To", receipt.to === null ? "a new contract" : addressLink(receipt.to, explorer.location, explorer.names)],
      ["Gas used", String(receipt.gasUsed)],
    ]),
    "<h2>Token transfers</h2>",
    transfersTable(
      transfers.filter((transfer) => transfer.txHash === hash.toLowerCase()),
      explorer.location,
      explorer.names,
    ),
  ];
  return renderExplorerPage(`Transaction ${hash}`, explorer.location, body.join(""));
}

async function renderAddressPage(explorer: ExplorerChain, address: string): Promise<string | undefined> {
  if (!isAddress(address, { strict: false })) return undefined;
  const owner = getAddress(address.toLowerCase());
  const head = await explorer.client.getBlockNumber();
  const fromBlock = head > BLOCKS_MAX ? head - BLOCKS_MAX : 0n;
  const [native, held, incoming, outgoing] = await Promise.all([
    explorer.client.getBalance({ address: owner }),
    Promise.all(explorer.chain.tokens.map((token) => balanceOf(explorer.client, token.address, owner))),
    findTransfers(explorer, { fromBlock, args: { to: owner } }),
    findTransfers(explorer, { fromBlock, args: { from: owner } }),
  ]);
  const balances = explorer.chain.tokens.map(({ symbol, decimals }, index) => ({
    symbol,
    decimals,
    amountUnits: held[index] ?? 0n,
  }));
  const name = explorer.names.get(owner.toLowerCase());
  const body = [
    `<p><code>${owner}</code></p>`,
    balancesTable([...balances, { symbol: "ETH", amountUnits: native, decimals: ETHER_DECIMALS }]),
    "<h2>Received</h2>",
    transfersTable(incoming.toReversed().slice(0, TRANSFERS_MAX), explorer.location, explorer.names),
    "<h2>Sent</h2>",
    transfersTable(outgoing.toReversed().slice(0, TRANSFERS_MAX), explorer.location, explorer.names),
  ];
  return renderExplorerPage(name === undefined ? "Address" : `Address: ${name}`, explorer.location, body.join(""));
}

type LogFilter = { blockHash: Hex } | { fromBlock: bigint; args?: { from?: Hex; to?: Hex } };

async function findTransfers(explorer: ExplorerChain, scope: LogFilter): Promise<TransferRow[]> {
  const address = explorer.chain.tokens.map((token) => token.address);
  const logs = await explorer.client.getLogs({ address, event: TRANSFER, strict: true, ...scope });
  return logs.flatMap((log) => {
    const token = explorer.chain.tokens.find((candidate) => candidate.address === log.address.toLowerCase());
    if (token === undefined || log.transactionHash === null) return [];
    const { from, to, value } = log.args;
    return [{ txHash: log.transactionHash, from, to, amountUnits: value, token }];
  });
}
