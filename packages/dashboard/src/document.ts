import { textDirection, type Locale } from "@tributary/checkout/locales";
import { h, toHtml, type Child } from "@tributary/checkout/vnode";

export type PageDocument = {
  readonly locale: Locale;
  readonly title: string;
  /** Folder of the page's files, such as "/ops". */
  readonly filesPath: string;
  /** Name of its script; undefined for a page that has none. */
  readonly script: string | undefined;
  /** What the server hands to the script. */
  readonly data?: object;
  readonly body: readonly Child[];
};

/** Writes a whole document. Its script and style sheet are files, so that the policy allows nothing inline. */
export function renderDocument({ locale, title, filesPath, script, data, body }: PageDocument): string {
  const head = h(
    "head",
    {},
    h("meta", { charset: "utf-8" }),
    h("meta", { name: "viewport", content: "width=device-width,initial-scale=1,viewport-fit=cover" }),
    h("meta", { name: "robots", content: "noindex" }),
    h("meta", { name: "color-scheme", content: "light dark" }),
    h("title", {}, title),
    h("link", { rel: "icon", href: "data:," }),
    h("link", { rel: "stylesheet", href: `${filesPath}/dashboard.css` }),
    script !== undefined && h("script", { src: `${filesPath}/${script}`, type: "module" }),
  );
  const content = h(
    "body",
    {},
    h("div", { id: "root" }, body),
    data !== undefined && h("script", { type: "application/json", id: "data" }, escapeJson(data)),
  );
  return `<!doctype html>${toHtml(h("html", { lang: locale, dir: textDirection(locale) }, head, content))}`;
}

function escapeJson(data: object): string {
  return JSON.stringify(data).replaceAll("<", String.raw`\u003c`);
}
