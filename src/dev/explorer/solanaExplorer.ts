import { encodeKey, parseKey } from "@tributary/inbox/solana/keys";
import { parseObject } from "../../chain/rpc/jsonValues.ts";
import { TOKEN_PROGRAMS } from "../../chain/solana/read/mints.ts";
import { findTransfers } from "../../chain/solana/read/transactionTransfers.ts";
import { UnreadableTransaction, VERSION_MAX, type SolanaTransaction } from "../../chain/solana/rpc/parseTransaction.ts";
import { SolanaRpc } from "../../chain/solana/rpc/solanaRpc.ts";
import { isSignature, parseCount } from "../../chain/solana/rpc/values.ts";
import { findTokenAccount } from "../../chain/solana/tokenAccount.ts";
import { formatUnits } from "../../kernel/units.ts";
import type { DevSolana } from "../devSolana.ts";
import type { ChainExplorer } from "./chainExplorer.ts";
import {
  addressLink,
  balancesTable,
  escapeHtml,
  renderFieldTable,
  renderExplorerPage,
  transfersTable,
  type SiteLocation,
  type TransferRow,
} from "./explorerPages.ts";

// The explorer's pages of the local Solana.

const TRANSFERS_MAX = 50;
const SOL_DECIMALS = 9;
const KEY_BYTES = 32;
/** The bytes of a token account without extensions, and where others say what they are. */
const ACCOUNT_TYPE = 165;
const TYPE_ACCOUNT = 2;

type Explorer = { solana: DevSolana; rpc: SolanaRpc; location: SiteLocation };
type Holder = { mint: string; owner: string; units: bigint };

export function openSolanaExplorer(solana: DevSolana): ChainExplorer {
  const { name, chainId, rpcUrl } = solana.chain;
  const location = { chainName: name, root: `/dev/explorer/${chainId}` };
  const explorer = { solana, rpc: new SolanaRpc({ url: rpcUrl }), location };
  return {
    chainPage: () => renderChainPage(explorer),
    transactionPage: (signature) => renderTransactionPage(explorer, signature),
    addressPage: (address) => renderAddressPage(explorer, address),
    close: () => explorer.rpc.close(),
  };
}

async function renderChainPage(explorer: Explorer): Promise<string> {
  const { solana, rpc, location } = explorer;
  const { caip2, name, rpcUrl, tokens } = solana.chain;
  const head = await rpc.slot("confirmed");
  // A settlement names the inbox program and no mint.
  const transfers = await listTransfers(explorer, [...tokens.map(({ address }) => address), solana.program]);
  const known = [...solana.names.keys()].map((address) => addressLink(address, location, solana.names));
  const body = [
    renderFieldTable([
      ["Chain", `<code>${escapeHtml(caip2)}</code>`],
      ["RPC", `<code>${escapeHtml(rpcUrl)}</code>`],
      ["Head", `slot ${head}`],
      ["Known", known.join(" · ")],
    ]),
    "<h2>Latest token transfers</h2>",
    transfersTable(transfers, location, solana.names),
  ];
  return renderExplorerPage(name, location, body.join(""));
}

async function renderTransactionPage(explorer: Explorer, signature: string): Promise<string | undefined> {
  if (!isSignature(signature)) return undefined;
  const { rpc, location, solana } = explorer;
  const [transaction] = await rpc.transactions([signature]);
  if (transaction === undefined) return undefined;
  if (transaction instanceof UnreadableTransaction) {
    const note = `<p>This explorer cannot read it: ${escapeHtml(transaction.reason)}.</p>`;
    return renderExplorerPage(`Transaction ${signature}`, location, note);
  }
  const options = { commitment: "confirmed", encoding: "json", maxSupportedTransactionVersion: VERSION_MAX };
  const answer = await rpc.call("getTransaction", [signature, options]);
  const { fee } = parseObject(parseObject(answer, "a transaction")["meta"], "the result of a transaction");
  const feeLamports = BigInt(parseCount(fee, "a fee"));
  const programs = new Set(transaction.instructions.filter(({ depth }) => depth === 1).map(({ program }) => program));
  const status = transaction.succeeded ? `<span class="ok">success</span>` : `<span class="bad">failed</span>`;
  const link = (address: string) => addressLink(address, location, solana.names);
  const body = [
    renderFieldTable([
      ["Status", status],
      ["Slot", String(transaction.slot)],
      ["Fee payer", link(transaction.keys[0] ?? "")],
      ["Programs", [...programs].map(link).join(" · ")],
      ["Fee", `${formatUnits(feeLamports, SOL_DECIMALS)} SOL`],
    ]),
    "<h2>Token transfers</h2>",
    transfersTable(toRows(explorer, transaction), location, solana.names),
  ];
  return renderExplorerPage(`Transaction ${signature}`, location, body.join(""));
}

async function renderAddressPage(explorer: Explorer, address: string): Promise<string | undefined> {
  if (parseKey(address) === undefined) return undefined;
  const holder = await readHolder(explorer, address);
  return holder === undefined ? renderOwnerPage(explorer, address) : renderTokenAccountPage(explorer, address, holder);
}

/** A wallet or an inbox: what its token accounts hold. */
async function renderOwnerPage(explorer: Explorer, owner: string): Promise<string> {
  const { rpc, location, solana } = explorer;
  const { tokens } = solana.chain;
  const accounts = tokens.map(({ address: mint, tokenProgram }) => findTokenAccount({ owner, mint, tokenProgram }));
  const [lamports, holders, transfers] = await Promise.all([
    rpc.call("getBalance", [owner, { commitment: "confirmed" }]),
    Promise.all(accounts.map((account) => readHolder(explorer, account))),
    listTransfers(explorer, accounts),
  ]);
  const native = BigInt(parseCount(parseObject(lamports, "a balance")["value"], "lamports"));
  const balances = tokens.map(({ symbol, decimals }, index) => ({
    symbol,
    decimals,
    amountUnits: holders[index]?.units ?? 0n,
  }));
  const name = solana.names.get(owner);
  const body = [
    `<p><code>${escapeHtml(owner)}</code></p>`,
    balancesTable([...balances, { symbol: "SOL", amountUnits: native, decimals: SOL_DECIMALS }]),
    ...receivedAndSent(explorer, owner, transfers),
  ];
  return renderExplorerPage(name === undefined ? "Address" : `Address: ${name}`, location, body.join(""));
}

async function renderTokenAccountPage(explorer: Explorer, account: string, holder: Holder): Promise<string> {
  const { location, solana } = explorer;
  const token = solana.chain.tokens.find(({ address }) => address === holder.mint);
  const transfers = await listTransfers(explorer, [account]);
  const amount = formatUnits(holder.units, token?.decimals ?? 0);
  const body = [
    `<p><code>${escapeHtml(account)}</code></p>`,
    renderFieldTable([
      ["Owner", addressLink(holder.owner, location, solana.names)],
      ["Mint", addressLink(holder.mint, location, solana.names)],
      ["Balance", escapeHtml(`${amount} ${token?.symbol ?? "units"}`)],
    ]),
    ...receivedAndSent(explorer, holder.owner, transfers),
  ];
  return renderExplorerPage("Token account", location, body.join(""));
}

function receivedAndSent({ location, solana }: Explorer, owner: string, transfers: readonly TransferRow[]): string[] {
  const table = (rows: readonly TransferRow[]) => transfersTable(rows, location, solana.names);
  return [
    "<h2>Received</h2>",
    table(transfers.filter(({ to }) => to === owner)),
    "<h2>Sent</h2>",
    table(transfers.filter(({ from }) => from === owner)),
  ];
}

/** Undefined for what is no token account. */
async function readHolder({ rpc }: Explorer, account: string): Promise<Holder | undefined> {
  const { accounts } = await rpc.accounts([account], ACCOUNT_TYPE + 1);
  const [found] = accounts;
  if (found === undefined || !TOKEN_PROGRAMS.includes(found.owner)) return undefined;
  const { data } = found;
  // Mints are shorter, and longer accounts say what they are.
  if (data.length < ACCOUNT_TYPE || (data.length > ACCOUNT_TYPE && data.readUInt8(ACCOUNT_TYPE) !== TYPE_ACCOUNT))
    return undefined;
  const keyAt = (at: number) => encodeKey(new Uint8Array(data.subarray(at, at + KEY_BYTES)));
  return { mint: keyAt(0), owner: keyAt(KEY_BYTES), units: data.readBigUInt64LE(2 * KEY_BYTES) };
}

/** The newest transfers of the transactions that name one of the addresses. */
async function listTransfers(explorer: Explorer, addresses: readonly string[]): Promise<TransferRow[]> {
  const { rpc } = explorer;
  const pages = await Promise.all(
    addresses.map((address) => rpc.signatures(address, { before: undefined, reachedSlot: 0n })),
  );
  const slots = new Map(pages.flatMap(({ entries }) => entries.map(({ signature, slot }) => [signature, slot])));
  const newest = [...slots].toSorted(([, one], [, other]) => Number(other - one)).slice(0, TRANSFERS_MAX);
  const transactions = await rpc.transactions(newest.map(([signature]) => signature));
  return transactions
    .flatMap((each) => (each === undefined || each instanceof UnreadableTransaction ? [] : toRows(explorer, each)))
    .slice(0, TRANSFERS_MAX);
}

function toRows({ solana }: Explorer, transaction: SolanaTransaction): TransferRow[] {
  return findTransfers(transaction, solana).flatMap(({ token: mint, from, to, units }) => {
    const token = solana.chain.tokens.find(({ address }) => address === mint);
    return token === undefined ? [] : [{ txHash: transaction.signature, from, to, amountUnits: units, token }];
  });
}
