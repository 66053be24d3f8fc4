import { readFileSync } from "node:fs";
import { escapeHtml } from "./markdown.ts";

const STYLE = readFileSync(new URL("page.css", import.meta.url), "utf8");

/** A page for people, and what it was made of for programs. */
export type Page = { html: string; markdown: string };

const COMMON_HEADERS = {
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "cache-control": "public, max-age=300",
} as const;

export const PAGE_HEADERS = {
  ...COMMON_HEADERS,
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
} as const;

export const MARKDOWN_HEADERS = { ...COMMON_HEADERS, "content-type": "text/markdown; charset=utf-8" } as const;

/** A page of documentation around `body`, which is HTML already. */
export function renderPage(title: string, body: string): string {
  return around(title, `<main>\n${body}\n</main>`);
}

/** A page with its contents beside it, or above it where there is no room. */
export function renderWidePage(title: string, { contents, body }: { contents: string; body: string }): string {
  return around(
    title,
    `<div class="wide">\n<nav aria-label="Contents">\n${contents}\n</nav>\n<main>\n${body}\n</main>\n</div>`,
  );
}

function around(title: string, inner: string): string {
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
</body>
</html>
`;
}
