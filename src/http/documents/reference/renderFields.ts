import { referenceComponents } from "../../schema/components.ts";
import type { JsonSchema } from "../../schema/jsonSchema.ts";
import { describeSchema } from "../../schema/describeSchema.ts";
import { escapeHtml } from "../escapeHtml.ts";
import { renderMarkdown } from "../markdown.ts";

/** More than the levels of any of our schemas. */
const LEVELS_MAX = 6;

type FieldsOptions = {
  /** Whether to mark required fields. Responses always contain every field, so only requests mark them. */
  isRequest: boolean;
  /** The prefix of the fields' anchors: their owner. */
  anchor: string;
  levelsLeft?: number;
};

/** Renders the fields of an object, each with its type, description and nested fields. */
export function renderFields(schema: JsonSchema, options: FieldsOptions): string {
  if (schema.oneOf !== undefined) return schema.oneOf.map((branch) => renderBranch(branch, options)).join("\n");
  const { properties = {}, required = [] } = schema;
  // A field whose only value is null belongs to another alternative.
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
  const description = field.description === undefined ? "" : renderMarkdown(field.description);
  const anchor = `${options.anchor}.${name}`;
  return `<li id="${escapeHtml(anchor)}">${head}${description}${renderExample(field)}${renderNestedFields(field, { ...options, anchor })}</li>`;
}

function renderExample({ examples = [] }: JsonSchema): string {
  const [example] = examples;
  if (typeof example !== "string" && typeof example !== "number") return "";
  return `<p class="kind">Such as <code>${escapeHtml(String(example))}</code></p>`;
}

function renderNestedFields(field: JsonSchema, { isRequest, anchor, levelsLeft = LEVELS_MAX }: FieldsOptions): string {
  const inner = field.items ?? field;
  if (inner.properties === undefined || componentName(inner) !== undefined || levelsLeft === 0) return "";
  return `<details><summary>Fields</summary>${renderFields(inner, { isRequest, anchor, levelsLeft: levelsLeft - 1 })}</details>`;
}

/** The type as text. Named response objects become links. */
function describeType(field: JsonSchema, { isRequest }: Pick<FieldsOptions, "isRequest">): string {
  const isNullable = field.type !== undefined && field.type.includes("null");
  const orNull = isNullable && !isRequest ? " or null" : "";
  const name = componentName(field.items ?? field);
  const link = name === undefined ? undefined : `<a href="#${name}">${name}</a>`;
  if (field.items !== undefined) return `list of ${link ?? describeType(field.items, { isRequest })}${orNull}`;
  if (link !== undefined) return link;
  return `${escapeHtml(describeSchema(field).replace(/^an? (JSON )?/, ""))}${orNull}${describeDefault(field)}`;
}

function describeDefault(field: JsonSchema): string {
  const text = field["x-default"] ?? field.default;
  return text === undefined ? "" : escapeHtml(`, default ${text}`);
}

function componentName(schema: JsonSchema): string | undefined {
  return referenceComponents(schema).$ref?.split("/").at(-1);
}
