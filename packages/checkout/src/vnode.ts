// Elements as plain objects. The server turns them into HTML, the page's script into DOM nodes. Texts stay texts in
// both: nothing that a merchant, a wallet or a chain sends is ever parsed as HTML.

export type Attributes = { readonly [name: string]: string | number | boolean | null | undefined };
export type Child = VElement | string | number | null | undefined | false | readonly Child[];
export type VElement = { readonly tag: string; readonly attributes: Attributes; readonly children: readonly VNode[] };
export type VNode = VElement | string;

/**
 * Creates an element. `tag` may carry classes, as in "p.dim.small". Adjacent texts become one, as in a parsed document.
 */
export function h(tag: string, attributes: Attributes = {}, ...children: readonly Child[]): VElement {
  const [name = "div", ...classes] = tag.split(".");
  const all = classes.length === 0 ? attributes : { class: classes.join(" "), ...attributes };
  const flat: VNode[] = [];
  for (const child of flatten(children)) {
    const last = flat.at(-1);
    if (typeof child === "string" && typeof last === "string") flat[flat.length - 1] = last + child;
    else flat.push(child);
  }
  return { tag: name, attributes: all, children: flat };
}

function* flatten(children: readonly Child[]): Generator<VNode> {
  for (const child of children) {
    if (child === null || child === undefined || child === false || child === "") continue;
    if (typeof child === "string") yield child;
    else if (typeof child === "number") yield String(child);
    else if (isElement(child)) yield child;
    else yield* flatten(child);
  }
}

function isElement(child: VElement | readonly Child[]): child is VElement {
  return "tag" in child;
}

const VOID_TAGS = new Set(["br", "img", "input", "link", "meta", "wbr"]);
/** Their content is not escaped. The caller guarantees that it does not end the element. */
const RAW_TAGS = new Set(["script", "style"]);

export function toHtml(node: VNode): string {
  if (typeof node === "string") return escapeHtml(node);
  const attributes = Object.entries(node.attributes).map(([name, value]) => attributeHtml(name, value));
  const start = `<${node.tag}${attributes.join("")}>`;
  if (VOID_TAGS.has(node.tag)) return start;
  const toContent = RAW_TAGS.has(node.tag) ? rawText : toHtml;
  const content = node.children.map(toContent).join("");
  return `${start}${content}</${node.tag}>`;
}

function rawText(node: VNode): string {
  return typeof node === "string" ? node : "";
}

function attributeHtml(name: string, value: Attributes[string]): string {
  if (value === null || value === undefined || value === false) return "";
  return value === true ? ` ${name}` : ` ${name}="${escapeHtml(String(value))}"`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}
