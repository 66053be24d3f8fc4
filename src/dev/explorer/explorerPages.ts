import { formatUnits } from "../../kernel/units.ts";

// Renders the pages of the local explorer as HTML. Values from a chain are escaped, because a token may have any name.

export type SiteLocation = { chainName: string; root: string };
export type TransferRow = { txHash: string; from: string; to: string; amountUnits: bigint; token: TokenLabel };
export type TokenLabel = { symbol: string; address: string; decimals: number };
export type Balance = { symbol: string; amountUnits: bigint; decimals: number };

/** Names of the dev world's addresses; those of EVM chains by lower-case address. */
export type AddressNames = ReadonlyMap<string, string>;

const STYLE = `
:root{color-scheme:light dark;--line:#8884;--dim:#888;--link:#2563eb}
@media(prefers-color-scheme:dark){:root{--link:#7aa2ff}}
body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.25rem;overflow-wrap:anywhere}h2{font-size:1rem;margin-top:2rem}
table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.4rem .8rem .4rem 0;border-bottom:1px solid var(--line);overflow-wrap:anywhere;vertical-align:top}
th{font-weight:500;color:var(--dim);white-space:nowrap}a{color:var(--link);text-decoration:none}a:hover{text-decoration:underline}
code,.n{font-family:ui-monospace,monospace;font-size:.9em}.n{text-align:right;white-space:nowrap}.dim{color:var(--dim)}
.ok{color:#16a34a}.bad{color:#dc2626}
.transfers td,.transfers th{overflow-wrap:normal}.transfers code{white-space:nowrap}
@media(max-width:40rem){.transfers,.transfers tbody{display:block}.transfers tr:first-child{display:none}
.transfers tr{display:flex;flex-wrap:wrap;justify-content:space-between;gap:0 .8rem;padding:.4rem 0;border-bottom:1px solid var(--line)}
.transfers td{border:0;padding:0}.transfers td::before{color:var(--dim)}
.transfers td:nth-child(2){order:2}.transfers td:nth-child(2)::before{content:"from "}
.transfers td:nth-child(3){order:3}.transfers td:nth-child(3)::before{content:"to "}
.transfers .n{order:1;flex:1;min-width:calc(100% - 9rem);white-space:normal;overflow-wrap:anywhere}}`;

export function renderExplorerPage(title: string, location: SiteLocation, body: string): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escapeHtml(title)}</title><style>${STYLE}</style>
<p class="dim"><a href="${escapeHtml(location.root)}">${escapeHtml(location.chainName)}</a> · local explorer</p>
<h1>${escapeHtml(title)}</h1>${body}</html>`;
}

export function renderFieldTable(rows: readonly (readonly [name: string, html: string])[]): string {
  return `<table>${rows.map(([name, html]) => `<tr><th>${escapeHtml(name)}</th><td>${html}</td></tr>`).join("")}</table>`;
}

export function transfersTable(transfers: readonly TransferRow[], location: SiteLocation, names: AddressNames): string {
  if (transfers.length === 0) return `<p class="dim">No token transfers.</p>`;
  const rows = transfers.map(({ txHash, from, to, amountUnits, token }) => {
    const cells = [txLink(txHash, location), addressLink(from, location, names), addressLink(to, location, names)].map(
      (cell) => `<td>${cell}</td>`,
    );
    return `<tr>${cells.join("")}<td class="n">${formatAmount(amountUnits, token)}</td></tr>`;
  });
  return `<table class="transfers"><tr><th>Transaction</th><th>From</th><th>To</th><th class="n">Amount</th></tr>${rows.join("")}</table>`;
}

export function balancesTable(balances: readonly Balance[]): string {
  const rows = balances.map(
    (balance) =>
      `<tr><th>${escapeHtml(balance.symbol)}</th><td class="n">${formatUnits(balance.amountUnits, balance.decimals)}</td></tr>`,
  );
  return `<table>${rows.join("")}</table>`;
}

export function addressLink(address: string, location: SiteLocation, names: AddressNames): string {
  const name = names.get(address) ?? names.get(address.toLowerCase());
  const shown = name === undefined ? `<code>${shorten(address)}</code>` : escapeHtml(name);
  return `<a href="${escapeHtml(`${location.root}/address/${address}`)}" title="${escapeHtml(address)}">${shown}</a>`;
}

/** Formats "payoutFirst" as "payout first". */
export function nameOfRole(role: string): string {
  return role.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

function txLink(txHash: string, location: SiteLocation): string {
  return `<a href="${escapeHtml(`${location.root}/tx/${txHash}`)}" title="${escapeHtml(txHash)}"><code>${shorten(txHash)}</code></a>`;
}

function formatAmount(amountUnits: bigint, token: TokenLabel): string {
  return `${formatUnits(amountUnits, token.decimals)} ${escapeHtml(token.symbol)}`;
}

function shorten(hex: string): string {
  return escapeHtml(`${hex.slice(0, 8)}…${hex.slice(-6)}`);
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`);
}
