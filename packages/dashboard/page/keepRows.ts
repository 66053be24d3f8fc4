import { h, type VElement, type VNode } from "@tributary/checkout/vnode";

/**
 * A newly drawn page with the rows that the reader has before him: new ones are only counted, in the line that leads to
 * them, and those that fell off the page's end stay. Rows that both have are as they are now. Pages without such a line
 * stay as they are drawn.
 */
export function keepRows(node: VNode, document: Pick<Document, "querySelectorAll" | "getElementById">): VNode {
  const line = document.getElementById("newer");
  if (line === null) return node;
  const before = [...document.querySelectorAll("tbody > tr[id]")];
  if (before.length === 0) return node;
  const ids = new Set(before.map(({ id }) => id));
  let newer = 0;
  const visit = (each: VNode): VNode => {
    if (typeof each === "string") return each;
    if (each.tag !== "tbody") return { ...each, children: each.children.map(visit) };
    const drawn = new Map(
      each.children.flatMap((row) => (typeof row === "string" ? [] : [[String(row.attributes["id"]), row]])),
    );
    const firstKnown = [...drawn.keys()].findIndex((id) => ids.has(id));
    newer = firstKnown === -1 ? drawn.size : firstKnown;
    return { ...each, children: before.map((row) => drawn.get(row.id) ?? toNode(row)) };
  };
  return withCount(visit(node), () => newer);
}

/** Writes the count into the line, once all rows are compared. */
function withCount(node: VNode, count: () => number): VNode {
  if (typeof node === "string") return node;
  if (node.attributes["id"] !== "newer")
    return { ...node, children: node.children.map((each) => withCount(each, count)) };
  const { "data-one": one, "data-other": other, "data-show": show, "data-href": href } = node.attributes;
  const n = count();
  if (n === 0) return node;
  const text = String(n === 1 ? one : other).replace("{n}", String(n));
  return { ...node, children: [text, h("a", { href }, String(show))] };
}

function toNode(element: Element): VElement {
  const attributes = Object.fromEntries(element.getAttributeNames().map((name) => [name, element.getAttribute(name)]));
  const children = [...element.childNodes].flatMap((child): VNode[] => {
    if (child.nodeType === 3) return [child.nodeValue ?? ""];
    return child.nodeType === 1 ? [toNode(child as Element)] : [];
  });
  return { tag: element.localName, attributes, children };
}
