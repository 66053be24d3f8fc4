import { escapeHtml } from "../escapeHtml.ts";
import { renderPage } from "../docsPage.ts";
import type { SearchGroup } from "./searchEntries.ts";

/** Renders all search entries as one page of links, which works without a script. */
export function renderIndex(groups: readonly SearchGroup[]): string {
  const contents = groups.map(({ heading }) => `<a href="#${headingId(heading)}">${escapeHtml(heading)}</a>`);
  const lists = groups.map(({ heading, entries }) => {
    const items = entries.map(
      ({ title, kind, url }) =>
        `<li><a href="${escapeHtml(url)}">${escapeHtml(title)}</a> <span class="kind">${escapeHtml(kind)}</span></li>`,
    );
    return `<h2 id="${headingId(heading)}">${escapeHtml(heading)}</h2>\n<ul class="index">\n${items.join("\n")}\n</ul>`;
  });
  const nav = '<nav><a href="/docs">Reference and guides</a></nav>';
  return renderPage("Index", `${nav}\n<h1>Index</h1>\n<p>${contents.join(" · ")}</p>\n${lists.join("\n")}`);
}

function headingId(heading: string): string {
  return heading.toLowerCase().replaceAll(" ", "-");
}
