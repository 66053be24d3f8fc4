import { byReference } from "../../schema/components.ts";
import type { JsonSchema } from "../../schema/jsonSchema.ts";
import { wanted } from "../../schema/wanted.ts";
import { escapeHtml, renderMarkdown } from "../markdown.ts";

/** Deeper than any of our schemas. */
const LEVELS_MAX = 6;

type FieldsOptions = {
  /** Of an answer every field is there, so that only requests tell what is required. */
  isRequest: boolean;
  /** What the fields belong to, as their addresses name it. */
  at: string;
  levelsLeft?: number;
};

/** The fields of an object, each with its type, its meaning and its own fields. */
export function renderFields(schema: JsonSchema, options: FieldsOptions): string {
  if (schema.oneOf !== undefined) return schema.oneOf.map((branch) => renderBranch(branch, options)).join("\n");
  const { properties = {}, required = [] } = schema;
  // A field that may only be null is one that belongs to another alternative.
  const fields = Object.entries(properties).filter(([, field]) => field.type !== "null");
  if (fields.length === 0) return "<p>None.</p>";
  const items = fields.map(([name, field]) =>
    renderField({ name, field, isRequired: required.includes(name) }, options),
  );
  return `<ul class="fields">\n${items.join("\n")}\n</ul>`;
}

function renderBranch(branch: JsonSchema, options: FieldsOptions): string {
  return `<p><strong>${escapeHtml(branch.title ?? "")}</strong></p>\n${renderFields(branch, options)}`;
}

export type Field = { name: string; field: JsonSchema; isRequired: boolean };

export function renderField({ name, field, isRequired }: Field, options: FieldsOptions): string {
  const needed = options.isRequest && isRequired ? '<span class="needed">required</span>' : "";
  const head = `<code>${escapeHtml(name)}</code><span class="kind">${kindOf(field, options)}</span>${needed}`;
  const words = field.description === undefined ? "" : renderMarkdown(field.description);
  const at = `${options.at}.${name}`;
  return `<li id="${escapeHtml(at)}">${head}${words}${exampleOf(field)}${renderInner(field, { ...options, at })}</li>`;
}

function exampleOf({ examples = [] }: JsonSchema): string {
  const [example] = examples;
  if (typeof example !== "string" && typeof example !== "number") return "";
  return `<p class="kind">Such as <code>${escapeHtml(String(example))}</code></p>`;
}

function renderInner(field: JsonSchema, { isRequest, at, levelsLeft = LEVELS_MAX }: FieldsOptions): string {
  const inner = field.items ?? field;
  if (inner.properties === undefined || nameOf(inner) !== undefined || levelsLeft === 0) return "";
  return `<details><summary>Its fields</summary>${renderFields(inner, { isRequest, at, levelsLeft: levelsLeft - 1 })}</details>`;
}

/** The type in words; the answers' objects by their names. */
function kindOf(field: JsonSchema, { isRequest }: Pick<FieldsOptions, "isRequest">): string {
  const isNullable = field.type !== undefined && field.type.includes("null");
  const orNull = isNullable && !isRequest ? " or null" : "";
  const name = nameOf(field.items ?? field);
  const link = name === undefined ? undefined : `<a href="#${name}">${name}</a>`;
  if (field.items !== undefined) return `list of ${link ?? kindOf(field.items, { isRequest })}${orNull}`;
  if (link !== undefined) return link;
  const standsFor = field.default === undefined ? "" : `, ${field.default} when left out`;
  return `${escapeHtml(wanted(field).replace(/^an? (JSON )?/, ""))}${orNull}${standsFor}`;
}

function nameOf(schema: JsonSchema): string | undefined {
  return byReference(schema).$ref?.split("/").at(-1);
}
