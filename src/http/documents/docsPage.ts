import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { escapeHtml } from "./escapeHtml.ts";

type Script = { text: string; hash: string };

const STYLE = readFileSync(new URL("page.css", import.meta.url), "utf8");
const [SEARCH, COPY_CODE, TRY_IT] = ["search/search.js", "script/copyCode.js", "script/tryIt.js"].map((name) => {
  const text = readFileSync(new URL(name, import.meta.url), "utf8");
  return { text, hash: createHash("sha256").update(text).digest("base64") };
}) as [Script, Script, Script];

const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  `script-src ${[SEARCH, COPY_CODE, TRY_IT].map(({ hash }) => `'sha256-${hash}'`).join(" ")}`,
  "style-src 'unsafe-inline'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
];

/** A page as HTML for people, and its Markdown source for programs. */
export type DocsPage = { html: string; markdown: string };

const DOCS_HEADERS = {
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "cache-control": "public, max-age=300",
} as const;

export const PAGE_HEADERS = {
  ...DOCS_HEADERS,
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": CONTENT_SECURITY_POLICY.join("; "),
} as const;

export const MARKDOWN_HEADERS = { ...DOCS_HEADERS, "content-type": "text/markdown; charset=utf-8" } as const;

export const NOTICE_HEADERS = { ...DOCS_HEADERS, "content-type": "text/plain; charset=utf-8" } as const;

export const INDEX_HEADERS = { ...DOCS_HEADERS, "content-type": "application/json; charset=utf-8" } as const;

/** Hidden until the search script shows it. */
const SEARCH_BOX = `<search id="search" hidden>
<label for="search-text">Search</label>
<input id="search-text" type="search" placeholder="Search, or press /" autocomplete="off" autocapitalize="off" spellcheck="false" role="combobox" aria-expanded="false" aria-controls="search-found" aria-autocomplete="list" aria-keyshortcuts="/">
<ul id="search-found" role="listbox" aria-label="Found" hidden></ul>
<p role="status"></p>
</search>`;

/** Renders a documentation page around `body`, which is HTML. */
export function renderPage(title: string, body: string): string {
  return renderDocument(title, `<main>\n${SEARCH_BOX}\n${body}\n</main>`, [SEARCH, COPY_CODE]);
}

/** Renders the reference with its contents beside it, or above it on a narrow screen. */
export function renderWidePage(title: string, { contents, body }: { contents: string; body: string }): string {
  return renderDocument(
    title,
    `<div class="wide">\n<nav aria-label="Contents">\n${SEARCH_BOX}\n${contents}\n</nav>\n<main>\n${body}\n</main>\n</div>`,
    [SEARCH, COPY_CODE, TRY_IT],
  );
}

function renderDocument(title: string, inner: string, scripts: readonly Script[]): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
</head>
<body>
${inner}
${scripts.map(({ text }) => `<script type="module">${text}</script>`).join("\n")}
</body>
</html>
`;
}
