import { Marked, Renderer, type Tokens } from "marked";
import { escapeHtml } from "./escapeHtml.ts";
import { highlight } from "./highlight.ts";

/** Schemes other than https, and addresses without one. */
const OTHER_SCHEME = /^(?!https:)[a-z][a-z0-9+.-]*:|^\/\//i;
/** A file outside docs/, which the service does not serve. */
const OUTSIDE_DOCS = "../../";

const marked = new Marked({
  renderer: {
    heading({ tokens, depth, text }: Tokens.Heading): string {
      const id = depth === 1 ? "" : ` id="${anchorOf(text)}"`;
      return `<h${depth}${id}>${this.parser.parseInline(tokens)}</h${depth}>\n`;
    },
    code: ({ text, lang }: Tokens.Code) => `${renderCode(text, lang)}\n`,
    /** A table scrolls by itself, as code does. */
    table(token: Tokens.Table): string {
      return `<div class="scroll" tabindex="0">${Renderer.prototype.table.call(this, token)}</div>\n`;
    },
    link({ href, tokens }: Tokens.Link): string {
      const text = this.parser.parseInline(tokens);
      if (OTHER_SCHEME.test(href) || href.startsWith(OUTSIDE_DOCS)) return text;
      return `<a href="${escapeHtml(pageOf(href))}">${text}</a>`;
    },
    // The content security policy allows no images.
    image: ({ text }: Tokens.Image) => escapeHtml(text),
  },
  // HTML stays text, and a bare URL is no link.
  tokenizer: { html: () => undefined, tag: () => undefined, url: () => undefined },
});

/** GitHub's Markdown as HTML for our own pages. */
export function renderMarkdown(markdown: string): string {
  return marked.parse(markdown, { async: false }).trimEnd();
}

/** Markdown within a line, such as code and links. */
export function renderLine(line: string): string {
  return marked.parseInline(line, { async: false });
}

/** Code scrolls by itself and can be focused by keyboard for that. */
export function renderCode(code: string, language = ""): string {
  return `<pre tabindex="0"><code>${highlight(code, language)}</code></pre>`;
}

/** The id of a heading in its page. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^a-z0-9_]+/g, "-")
    .replace(/^-|-$/g, "");
}

/** A page is served without the ending of its file. */
function pageOf(url: string): string {
  return url.startsWith("https:") ? url : url.replace(/\.md(?=#|$)/, "");
}
