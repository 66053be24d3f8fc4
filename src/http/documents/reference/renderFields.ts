import { referenceComponents } from "../../schema/components.ts";
import type { JsonSchema } from "../../schema/jsonSchema.ts";
import { describeSchema } from "../../schema/describeSchema.ts";
import { escapeHtml, renderMarkdown } from "../markdown.ts";

/** Deeper than any of our schemas. */
const LEVELS_MAX = 6;

type FieldsOptions = {
  /** Of an answer every field is there, so that only requests tell what is required. */
  isRequest: boolean;
  /** What the fields belong to, as their addresses name it. */
  anchor: string;
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
  const requiredMark = options.isRequest && isRequired ? '<span class="needed">required</span>' : "";
  const head = `<code>${escapeHtml(name)}</code><span class="kind">${describeType(field, options)}</span>${requiredMark}`;
  const words = field.description === undefined ? "" : renderMarkdown(field.description);
  const anchor = `${options.anchor}.${name}`;
  return `<li id="${escapeHtml(anchor)}">${head}${words}${renderExample(field)}${renderNestedFields(field, { ...options, anchor })}</li>`;
}

function renderExample({ examples = [] }: JsonSchema): string {
  const [example] = examples;
  if (typeof example !== "string" && typeof example !== "number") return "";
  return `<p class="kind">Such as <code>${escapeHtml(String(example))}</code></p>`;
}

function renderNestedFields(field: JsonSchema, { isRequest, anchor, levelsLeft = LEVELS_MAX }: FieldsOptions): string {
  const inner = field.items ?? field;
  if (inner.properties === undefined || componentName(inner) !== undefined || levelsLeft === 0) return "";
  return `<details><summary>Its fields</summary>${renderFields(inner, { isRequest, anchor, levelsLeft: levelsLeft - 1 })}</details>`;
}

/** The type in words; the answers' objects by their names. */
function describeType(field: JsonSchema, { isRequest }: Pick<FieldsOptions, "isRequest">): string {
  const isNullable = field.type !== undefined && field.type.includes("null");
  const orNull = isNullable && !isRequest ? " or null" : "";
  const name = componentName(field.items ?? field);
  const link = name === undefined ? undefined : `<a href="#${name}">${name}</a>`;
  if (field.items !== undefined) return `list of ${link ?? describeType(field.items, { isRequest })}${orNull}`;
  if (link !== undefined) return link;
  const defaultText = field.default === undefined ? "" : `, ${field.default} when left out`;
  return `${escapeHtml(describeSchema(field).replace(/^an? (JSON )?/, ""))}${orNull}${defaultText}`;
}

function componentName(schema: JsonSchema): string | undefined {
  return referenceComponents(schema).$ref?.split("/").at(-1);
}
