// The little Markdown that our own pages use, as HTML: headings, paragraphs, lists, fenced code, and in a line code, bold and links.

export function renderMarkdown(markdown: string): string {
  return blocksOf(markdown).map(renderBlock).join("\n");
}

export function escapeHtml(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;");
}

/** Blocks are separated by empty lines; a fence keeps its empty lines. */
function blocksOf(markdown: string): string[] {
  const parts = markdown.trim().split(/^(```[^\n]*\n[\s\S]*?\n```)$/m);
  return parts
    .flatMap((part) => (part.startsWith("```") ? [part] : part.split(/\n{2,}/)))
    .filter((part) => part.trim() !== "");
}

function renderBlock(block: string): string {
  const text = block.trim();
  const fence = /^```[^\n]*\n([\s\S]*?)\n```$/.exec(text);
  if (fence) return `<pre><code>${escapeHtml(fence[1] ?? "")}</code></pre>`;
  const heading = /^(#{1,3}) (.+)$/.exec(text);
  if (heading) return `<h${heading[1]?.length}>${renderLine(heading[2] ?? "")}</h${heading[1]?.length}>`;
  if (text.startsWith("- ")) {
    const items = text.split(/\n(?=- )/).map((item) => `<li>${renderLine(item.slice(2).replace(/\s+/g, " "))}</li>`);
    return `<ul>${items.join("")}</ul>`;
  }
  return `<p>${renderLine(text.replace(/\s+/g, " "))}</p>`;
}

function renderLine(line: string): string {
  const parts = escapeHtml(line).split(/(`[^`]+`)/);
  return parts.map((part) => (part.startsWith("`") ? `<code>${part.slice(1, -1)}</code>` : renderWords(part))).join("");
}

/** Only links to our own pages and to https become links. */
function renderWords(text: string): string {
  return text
    .replace(/\*\*([^*]+)\*\*/g, "<strong>$1</strong>")
    .replace(/\[([^\]]+)\]\(((?:https:\/\/|\/|\.\/|#)?[\w./#-]+)\)/g, '<a href="$2">$1</a>');
}
