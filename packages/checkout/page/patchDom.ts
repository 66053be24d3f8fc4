import type { VElement, VNode } from "../src/vnode.ts";

// Brings the document in line with elements drawn anew, and touches only what differs: focus, selections and open folds
// stay. It uses text nodes and attributes alone, never parsed HTML.

const SVG = "http://www.w3.org/2000/svg";

/** Makes the children of `parent` equal to `nodes`. */
export function patchChildren(parent: Element, nodes: readonly VNode[]): void {
  let current: ChildNode | null = parent.firstChild;
  for (const node of nodes) {
    const match = current === null ? null : findMatch(current, node);
    if (match === null) {
      const created = createNode(node, parent);
      // An unnamed element is replaced by what stands in its place now; a named one may be wanted further on.
      if (current !== null && identityOf(current) === undefined) {
        const replaced: ChildNode = current;
        current = current.nextSibling;
        replaced.replaceWith(created);
      } else parent.insertBefore(created, current);
      continue;
    }
    while (current !== null && current !== match) current = removeAndStep(current);
    patchNode(match, node);
    current = match.nextSibling;
  }
  while (current !== null) current = removeAndStep(current);
}

function removeAndStep(node: ChildNode): ChildNode | null {
  const next = node.nextSibling;
  node.remove();
  return next;
}

/** The node itself if it fits. Only an element with an identity is looked for further on. */
function findMatch(from: ChildNode, node: VNode): ChildNode | null {
  if (isSame(from, node)) return from;
  if (typeof node === "string" || identity(node) === undefined) return null;
  for (let each = from.nextSibling; each !== null; each = each.nextSibling) if (isSame(each, node)) return each;
  return null;
}

function isSame(current: ChildNode, node: VNode): boolean {
  if (typeof node === "string") return current.nodeType === Node.TEXT_NODE;
  return current instanceof Element && current.localName === node.tag && identityOf(current) === identity(node);
}

const IDENTITY = ["id", "data-task", "data-screen", "data-value"] as const;

function identity(node: VElement): string | undefined {
  for (const name of IDENTITY) if (node.attributes[name] !== undefined) return String(node.attributes[name]);
  return undefined;
}

function identityOf(node: ChildNode): string | undefined {
  if (!(node instanceof Element)) return undefined;
  for (const name of IDENTITY) {
    const value = node.getAttribute(name);
    if (value !== null) return value;
  }
  return undefined;
}

function patchNode(current: ChildNode, node: VNode): void {
  if (typeof node === "string") {
    if (current.nodeValue !== node) current.nodeValue = node;
    return;
  }
  if (!(current instanceof Element)) return;
  patchAttributes(current, node);
  patchChildren(current, node.children);
}

function patchAttributes(element: Element, { attributes }: VElement): void {
  for (const name of element.getAttributeNames()) {
    // The reader opens and closes folds.
    if (name !== "open" && !isSet(attributes[name])) element.removeAttribute(name);
  }
  for (const [name, value] of Object.entries(attributes)) {
    if (!isSet(value)) continue;
    const text = value === true ? "" : String(value);
    if (element.getAttribute(name) !== text) element.setAttribute(name, text);
  }
}

function isSet(value: VElement["attributes"][string]): boolean {
  return value !== undefined && value !== null && value !== false;
}

function createNode(node: VNode, parent: Element): Node {
  if (typeof node === "string") return document.createTextNode(node);
  const isSvg = node.tag === "svg" || parent.namespaceURI === SVG;
  const element = isSvg ? document.createElementNS(SVG, node.tag) : document.createElement(node.tag);
  patchAttributes(element, node);
  for (const child of node.children) element.append(createNode(child, element));
  return element;
}
