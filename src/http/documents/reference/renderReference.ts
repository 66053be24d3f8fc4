import { OPERATIONS } from "../../operationList.ts";
import type { OperationGroup } from "../../operation.ts";
import type { JsonSchema } from "../../schema/jsonSchema.ts";
import type { Guide } from "../guides.ts";
import { escapeHtml } from "../escapeHtml.ts";
import { renderMarkdown } from "../markdown.ts";
import { GROUP_DESCRIPTIONS } from "../openApi/operationObject.ts";
import { renderWidePage } from "../docsPage.ts";
import { renderFields } from "./renderFields.ts";
import { listDocumentedObjects } from "./documentedObjects.ts";
import { renderOperation } from "./renderOperation.ts";

const introduction = (baseUrl: string) => `# Tributary

Payment intents for stablecoins. Each intent has a deposit inbox that a payer funds by a transfer, and that can only be emptied to your own wallet.

New here? Begin with [your first intent](/docs/integrate/first-intent). Operators begin with [how to run the service](/docs/operate/install).

## Every call

Send the secret key of your account and the date of your integration. The key stays on your server.

\`\`\`http
Authorization: Bearer trib_…
Service-Version: 2026-11-01
\`\`\`

With [our client](/docs/integrate/errors-and-retries#with-our-client) that is

\`\`\`ts
import { createClient } from "@tributary/client";

const tributary = createClient({ baseUrl: "${baseUrl}", apiKey: process.env.TRIBUTARY_API_KEY });
\`\`\`

Bodies are JSON. A \`null\` is the same as leaving an optional field out, except in a PATCH, where it restores a default. Unknown fields are refused, and a trailing slash is another path.
Amounts are strings of whole numbers in a token's smallest units; \`priceUnits\` is a number in millionths of the payout currency. Times are ISO 8601 in UTC.

Checks run in this order, and the first failure is the response: version, route, key, rate limit, scope, size, body, then the intent.
[Every error](/docs/errors) has a page. Lists and retries have [a guide](/docs/integrate/errors-and-retries).

Programs can read [openapi.json](/openapi.json).`;

/** Renders the reference: all operations, all objects, and links to the guides. */
export function renderReference(baseUrl: string, guides: readonly Guide[]): string {
  const groups = Object.keys(GROUP_DESCRIPTIONS) as OperationGroup[];
  const operations = groups.flatMap((group) => OPERATIONS.filter((operation) => operation.group === group));
  const sections = operations.map((operation) => renderOperation(operation, baseUrl));
  const body = [renderMarkdown(introduction(baseUrl)), ...sections, ...listDocumentedObjects().map(renderObject)].join(
    "\n",
  );
  return renderWidePage("Tributary: API reference", { contents: renderContents(guides), body });
}

/** Renders the contents. They are open beside a wide page and folded above a narrow one, without a script. */
function renderContents(guides: readonly Guide[]): string {
  const groups = Object.keys(GROUP_DESCRIPTIONS).map((group) => {
    const links = OPERATIONS.filter((operation) => operation.group === group);
    return renderLinkList(
      group,
      links.map(({ operationId, summary }) => [`#${operationId}`, summary]),
    );
  });
  const guideLinks = (folder: string) =>
    guides.filter((guide) => guide.folder === folder).map(({ url, title }): [string, string] => [url, title]);
  const all = [
    renderLinkList("Start", [
      ["#every-call", "Every call"],
      ["/docs/errors", "Errors"],
      ["/docs/index", "Index of everything"],
      ["/openapi.json", "openapi.json"],
    ]),
    renderLinkList("Guides for merchants", guideLinks("integrate")),
    renderLinkList("Guides for operators", guideLinks("operate")),
    ...groups,
    renderLinkList(
      "Objects",
      listDocumentedObjects().map(([name]) => [`#${name}`, name]),
    ),
    renderLinkList("Design decisions", guideLinks("why")),
    renderLinkList("Measurements", guideLinks("")),
  ];
  const contents = all.join("\n");
  return `<details><summary>Contents</summary>\n${contents}\n</details>\n<div class="beside">\n${contents}\n</div>`;
}

function renderLinkList(heading: string, links: [url: string, text: string][]): string {
  const items = links.map(([url, text]) => `<li><a href="${url}">${escapeHtml(text)}</a></li>`);
  return `<h2>${escapeHtml(heading)}</h2>\n<ul>\n${items.join("\n")}\n</ul>`;
}

function renderObject([name, schema]: [string, JsonSchema]): string {
  return `<section id="${name}">
<h2>${name}</h2>
<p>${escapeHtml(schema.description ?? "")}</p>
${renderFields(schema, { isRequest: false, anchor: name })}
</section>`;
}
