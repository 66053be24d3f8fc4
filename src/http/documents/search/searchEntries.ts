import { faultRows, type FaultCode } from "../../../kernel/faults.ts";
import { OPERATIONS } from "../../operationList.ts";
import type { OperationSpec } from "../../operation.ts";
import { referenceComponents } from "../../schema/components.ts";
import type { JsonSchema } from "../../schema/jsonSchema.ts";
import type { Guide } from "../guides.ts";
import { anchorOf } from "../markdown.ts";
import { listDocumentedObjects } from "../reference/documentedObjects.ts";

/** One place in the documentation that the search can find. */
export type SearchEntry = {
  /** Its title there. */
  title: string;
  /** Its kind, in a few words. */
  kind: string;
  /** Its page and anchor. */
  url: string;
  /** The words of its text, besides the title: each once, in lower case. */
  words: string;
};

export type SearchGroup = { heading: string; entries: SearchEntry[] };

/** More than the levels of any of our schemas. */
const LEVELS_MAX = 6;

/** Builds all search entries, in reading order. */
export function buildSearchGroups(
  guides: readonly Guide[],
  errors: ReadonlyMap<string, { markdown: string }>,
): SearchGroup[] {
  return [
    { heading: "Operations", entries: OPERATIONS.map(operationEntry) },
    { heading: "Errors", entries: (Object.keys(faultRows) as FaultCode[]).map((code) => errorEntry(code, errors)) },
    { heading: "Guides", entries: guides.flatMap(guideEntries) },
    { heading: "Objects", entries: listDocumentedObjects().map(objectEntry) },
    { heading: "Request fields", entries: OPERATIONS.flatMap(requestEntries) },
    {
      heading: "Response fields",
      entries: listDocumentedObjects().flatMap(([name, schema]) => fieldEntries(schema, { owner: name, at: name })),
    },
  ];
}

function operationEntry({ operationId, method, path, summary, description }: OperationSpec): SearchEntry {
  const words = extractWords(`${operationId} ${description}`);
  return { title: summary, kind: `${method} ${path}`, url: `/docs#${operationId}`, words };
}

function errorEntry(code: FaultCode, errors: ReadonlyMap<string, { markdown: string }>): SearchEntry {
  const { status, message } = faultRows[code];
  const url = `/docs/errors/${code}`;
  // The example response is the same on every page.
  const [explanation = ""] = (errors.get(url)?.markdown ?? "").split("## Response", 1);
  return { title: code, kind: `Error ${status}`, url, words: extractWords(`${message} ${explanation}`) };
}

/** Entries of a guide and of each of its sections. */
function guideEntries({ title, url, markdown }: Guide): SearchEntry[] {
  const [introduction = "", ...sections] = markdown.split(/^(?=## )/m);
  return [
    { title, kind: "Guide", url, words: extractWords(introduction) },
    ...sections.map((section) => {
      const heading = /^## (.+)$/m.exec(section)?.[1] ?? "";
      const shown = heading.replaceAll("`", "");
      return { title: shown, kind: title, url: `${url}#${anchorOf(heading)}`, words: extractWords(section) };
    }),
  ];
}

function objectEntry([name, schema]: [string, JsonSchema]): SearchEntry {
  return { title: name, kind: "Object", url: `/docs#${name}`, words: extractWords(schema.description ?? "") };
}

function requestEntries({ operationId, query = {}, body }: OperationSpec): SearchEntry[] {
  const parent = { owner: operationId, at: operationId };
  const branches = body?.oneOf ?? (body === undefined ? [] : [body]);
  return [{ properties: query }, ...branches].flatMap((schema) => fieldEntries(schema, parent));
}

/** Entries of an object's fields and of their nested fields, apart from objects with an entry of their own. */
function fieldEntries(
  schema: JsonSchema,
  parent: { owner: string; at: string },
  levelsLeft = LEVELS_MAX,
): SearchEntry[] {
  const fields = Object.entries(schema.properties ?? {}).filter(([, field]) => field.type !== "null");
  return fields.flatMap(([name, field]): SearchEntry[] => {
    const anchor = `${parent.at}.${name}`;
    const title = anchor.slice(anchor.indexOf(".") + 1);
    const own = {
      title,
      kind: `Field of ${parent.owner}`,
      url: `/docs#${anchor}`,
      words: extractWords(field.description ?? ""),
    };
    const inner = field.items ?? field;
    const hasOwnEntry = referenceComponents(inner).$ref !== undefined || levelsLeft === 0;
    return [own, ...(hasOwnEntry ? [] : fieldEntries(inner, { owner: parent.owner, at: anchor }, levelsLeft - 1))];
  });
}

function extractWords(text: string): string {
  return [...new Set(text.toLowerCase().match(/[a-z0-9_]{2,40}/g))].join(" ");
}
