// The little Markdown that our own pages use, as HTML: headings, paragraphs, lists, tables, fenced code, and in a line code,
// bold and links.

export function renderMarkdown(markdown: string): string {
  return blocksOf(markdown).map(renderBlock).join("\n");
}

export function escapeHtml(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;");
}

/** A heading's place in its page, as the address names it. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
}

/** Blocks are separated by empty lines; a fence keeps its empty lines, and stands alone without them. */
function blocksOf(markdown: string): string[] {
  const parts = markdown.trim().split(/^(```[^\n]*\n[\s\S]*?\n```)$/m);
  return parts
    .flatMap((part) => (part.startsWith("```") ? [part] : part.split(/\n{2,}/)))
    .filter((part) => part.trim() !== "");
}

function renderBlock(block: string): string {
  const text = block.trim();
  const fence = /^```[^\n]*\n([\s\S]*?)\n```$/.exec(text);
  if (fence) return renderCode(fence[1] ?? "");
  const [, marks = "", heading] = /^(#{1,3}) (.+)$/.exec(text) ?? [];
  if (heading !== undefined) return renderHeading(marks.length, heading);
  if (text.startsWith("|")) return renderTable(text);
  if (text.startsWith("- ")) return renderList(text, { tag: "ul", mark: /^- /, between: /\n(?=- )/ });
  if (/^\d+\. /.test(text)) return renderList(text, { tag: "ol", mark: /^\d+\. /, between: /\n(?=\d+\. )/ });
  return `<p>${renderLine(text.replace(/\s+/g, " "))}</p>`;
}

/** Code as it is, which scrolls by itself and can be reached by keyboard for that. */
export function renderCode(code: string): string {
  return `<pre tabindex="0"><code>${escapeHtml(code)}</code></pre>`;
}

function renderHeading(level: number, heading: string): string {
  const id = level === 1 ? "" : ` id="${anchorOf(heading)}"`;
  return `<h${level}${id}>${renderLine(heading)}</h${level}>`;
}

function renderList(text: string, { tag, mark, between }: { tag: string; mark: RegExp; between: RegExp }): string {
  const items = text
    .split(between)
    .map((item) => `<li>${renderLine(item.replace(mark, "").replace(/\s+/g, " "))}</li>`);
  return `<${tag}>${items.join("")}</${tag}>`;
}

/** The second line only separates the head from the rows. A bar inside of code does not separate cells. It scrolls by itself, as code does. */
function renderTable(text: string): string {
  const [head = "", , ...rows] = text.split("\n");
  const cells = (line: string, tag: string) =>
    line
      .replace(/^\||\|$/g, "")
      .split(/\|(?=(?:[^`]*`[^`]*`)*[^`]*$)/)
      .map((cell) => `<${tag}>${renderLine(cell.trim())}</${tag}>`)
      .join("");
  const lines = [cells(head, "th"), ...rows.map((row) => cells(row, "td"))].map((line) => `<tr>${line}</tr>`);
  return `<div class="scroll" tabindex="0"><table>\n${lines.join("\n")}\n</table></div>`;
}

export function renderLine(line: string): string {
  const parts = escapeHtml(line).split(/(`[^`]+`)/);
  return parts.map((part) => (part.startsWith("`") ? `<code>${part.slice(1, -1)}</code>` : renderWords(part))).join("");
}

const LINK = /\[([^\]]+)\]\(((?:https:\/\/|\/|\.\/|\.\.\/|#)?[\w./#-]+)\)/g;

/** Only links to our own pages and to https become links; what leaves the folder of documents is a file that nobody serves. */
function renderWords(text: string): string {
  return text
    .replace(/\*\*([^*]+)\*\*/g, "<strong>$1</strong>")
    .replace(LINK, (_, words: string, url: string) =>
      url.startsWith("../../") ? words : `<a href="${pageOf(url)}">${words}</a>`,
    );
}

/** A page is named by its file and served without the ending. */
function pageOf(url: string): string {
  return url.startsWith("https:") ? url : url.replace(/\.md(?=#|$)/, "");
}
