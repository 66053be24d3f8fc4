// Writes an SVG anew from the elements and attributes that draw. Lists name what stays, so that a part which no list
// knows is dropped: scripts, styles, links, foreign content, handlers and every address outside the image.

const ELEMENTS = new Set(
  "svg g defs path rect circle ellipse line polyline polygon clipPath mask linearGradient radialGradient stop title desc".split(
    " ",
  ),
);
const ATTRIBUTES = new Set(
  [
    "id viewBox width height x y x1 y1 x2 y2 cx cy r rx ry fx fy d points transform preserveAspectRatio",
    "fill fill-opacity fill-rule stroke stroke-width stroke-linecap stroke-linejoin stroke-miterlimit stroke-dasharray stroke-dashoffset",
    "stroke-opacity opacity clip-path clip-rule mask offset stop-color stop-opacity color gradientUnits gradientTransform spreadMethod",
    "clipPathUnits maskUnits maskContentUnits",
  ]
    .join(" ")
    .split(" "),
);
/** Numbers, path data, colours, names of ids, and references to ids of this image. */
const VALUE = /^(?:url\(#[\w-]+\)|[\w\s.,#%()+-]*)$/;
const REFERENCE = /url\s*\(/i;

const NAME = String.raw`[A-Za-z_][\w:.-]*`;
const TOKEN = new RegExp(
  [
    String.raw`<!--(?:(?!--)[\s\S])*-->`,
    String.raw`<\?[^>]*\?>`,
    String.raw`<!DOCTYPE\s[^[>]*>`,
    String.raw`</(?<end>${NAME})\s*>`,
    String.raw`<(?<start>${NAME})(?<attributes>(?:\s+${NAME}\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(?<empty>/?)>`,
    String.raw`(?<text>[^<]+)`,
  ].join("|"),
  "gy",
);
const ATTRIBUTE = new RegExp(String.raw`(${NAME})\s*=\s*(?:"([^"]*)"|'([^']*)')`, "g");

/** Undefined unless the text is one well-formed `<svg>` without entities of its own. */
export function sanitizeSvg(text: string): string | undefined {
  const source = text.replace(/^\ufeff/, "");
  const open: string[] = [];
  const written: string[] = [];
  /** How many open elements are below a dropped one, itself included. */
  let dropped = 0;
  let hasRoot = false;
  let readTo = 0;
  for (const match of source.matchAll(TOKEN)) {
    readTo = match.index + match[0].length;
    const { start, end, attributes = "", empty } = match.groups ?? {};
    if (start !== undefined) {
      if (open.length === 0 && (hasRoot || start !== "svg")) return undefined;
      hasRoot = true;
      const isKept = dropped === 0 && ELEMENTS.has(start);
      if (isKept) written.push(`<${start}${keptAttributes(attributes, open.length === 0)}${empty === "/" ? "/" : ""}>`);
      if (empty === "/") continue;
      open.push(start);
      if (!isKept) dropped += 1;
    } else if (end !== undefined) {
      if (open.pop() !== end) return undefined;
      if (dropped > 0) dropped -= 1;
      else written.push(`</${end}>`);
    } else if (open.length === 0 && match.groups?.["text"] !== undefined && match[0].trim() !== "") return undefined;
    // Text draws nothing here: the list has no element that shows it.
  }
  return readTo === source.length && hasRoot && open.length === 0 ? written.join("") : undefined;
}

function keptAttributes(text: string, isRoot: boolean): string {
  const kept = new Map<string, string>();
  for (const [, name = "", double, single] of text.matchAll(ATTRIBUTE)) {
    const value = double ?? single ?? "";
    const isReference = REFERENCE.test(value);
    if (!ATTRIBUTES.has(name) || kept.has(name) || !VALUE.test(value) || (isReference && !value.startsWith("url(#")))
      continue;
    kept.set(name, value);
  }
  const attributes = [...kept].map(([name, value]) => ` ${name}="${value}"`).join("");
  return isRoot ? ` xmlns="http://www.w3.org/2000/svg"${attributes}` : attributes;
}
