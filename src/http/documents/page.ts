import { escapeHtml } from "./markdown.ts";

const STYLE = `
:root{color-scheme:light dark;--ink:#16202b;--dim:#5a6b7c;--line:#dde4ea;--soft:#f3f6f9;--paper:#fff;--tone:#0b6bcb}
@media(prefers-color-scheme:dark){:root{--ink:#e8eef4;--dim:#9aabbb;--line:#2a3642;--soft:#17212b;--paper:#0f161d;--tone:#6cb4ff}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.6 system-ui,sans-serif}
main{max-width:44rem;margin:0 auto;padding:2.5rem 1.25rem 4rem}
nav{font-size:.9rem;margin-bottom:1.5rem}
a{color:var(--tone)}
h1{font-size:1.7rem;line-height:1.25;margin:0 0 .5rem;overflow-wrap:anywhere}
h2{font-size:1.15rem;margin:2rem 0 .5rem}
code{font:.9em ui-monospace,monospace;background:var(--soft);padding:.1em .3em;border-radius:.25rem;overflow-wrap:anywhere}
pre{background:var(--soft);border:1px solid var(--line);border-radius:.5rem;padding:1rem;overflow-x:auto}
pre code{background:none;padding:0;overflow-wrap:normal}
.facts{color:var(--dim);margin:0 0 1.5rem}
table{border-collapse:collapse;width:100%}
td,th{text-align:left;padding:.5rem .75rem .5rem 0;border-bottom:1px solid var(--line);vertical-align:top}
`;

export const PAGE_HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "cache-control": "public, max-age=300",
} as const;

/** A page of documentation around `body`, which is HTML already. */
export function renderPage(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
</head>
<body><main>
${body}
</main></body>
</html>
`;
}
