import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { renderMarkdown } from "../../src/http/documents/markdown.ts";
import { OPERATIONS } from "../../src/http/operationList.ts";
import { ALARMS } from "../../src/kernel/alarm/alarmTable.ts";

// What the documents say about this repository is true in it.

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");
const PAGES = globSync(["*.md", "{docs,contracts,programs,config,test,bin,examples}/**/*.md", "packages/*/*.md"], {
  cwd: ROOT,
}).filter((page) => !page.includes("node_modules"));

/** The anchors of a page, as GitHub makes them of its headings. */
function anchorsOf(markdown: string): Set<string> {
  const headings = [...markdown.matchAll(/^#{1,6} +(.+)$/gm)].map(([, heading = ""]) => heading);
  const plain = (heading: string) => heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll(/[`*]/g, "");
  return new Set(
    headings.map((heading) =>
      plain(heading)
        .trim()
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
        .replaceAll(" ", "-"),
    ),
  );
}

test("every relative link of every page leads to a file, and to a heading in it", () => {
  const broken: string[] = [];
  let count = 0;
  for (const page of PAGES) {
    const prose = read(page).replaceAll(/^ *```[^]*?^ *```/gm, "");
    const targets = [
      ...[...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => target),
      ...[...prose.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, target = ""]) => target),
    ];
    // A page of the running service begins with a slash.
    for (const target of targets.filter((each) => !/^(?:[a-z]+:|\/)/.test(each))) {
      count += 1;
      const [path = "", anchor] = target.split("#");
      const file = path === "" ? page : join(dirname(page), path);
      if (!existsSync(join(ROOT, file))) broken.push(`${page}: ${target}`);
      else if (anchor !== undefined && file.endsWith(".md") && !anchorsOf(read(file)).has(anchor))
        broken.push(`${page}: ${target}`);
    }
  }
  assert.deepEqual(broken, []);
  assert.ok(count > 100, `${count} links`);
});

test("every alert rule has a runbook_url, which leads to a page and a heading of it", () => {
  const rules = read("config/monitoring/alerts.yml").split("- alert: ").slice(1);
  assert.ok(rules.length > 5);
  for (const rule of rules) {
    const [, page = "", anchor = ""] =
      /runbook_url: "https:\/\/pay\.example\/(docs\/[\w/-]+)#?([^"]*)"/.exec(rule) ?? [];
    const markdown = read(`${page}.md`);
    // The name of an alarm is its heading.
    if (anchor !== "" && anchor !== "{{ $labels.alarm }}") assert.ok(anchorsOf(markdown).has(anchor), rule);
  }
});

test("an alarm's runbookUrl leads to its own part of the page that the service shows", () => {
  const page = renderMarkdown(read("docs/operate/alarms.md"));
  const names = Object.keys(ALARMS);
  assert.ok(names.length > 20);
  assert.deepEqual(
    names.filter((name) => !page.includes(` id="${name}">`)),
    [],
  );
});

test("the table of contents leads to every guide", () => {
  const contents = read("docs/README.md");
  const guides = globSync(["integrate/*.md", "operate/*.md"], { cwd: join(ROOT, "docs") });
  assert.ok(guides.length > 25);
  assert.deepEqual(
    guides.filter((guide) => !contents.includes(`](${guide})`)),
    [],
  );
});

test("commands name the service and the key in one way", () => {
  const names = PAGES.flatMap((page) =>
    Array.from(read(page).matchAll(/^ *```sh\n([^]*?)^ *```/gm), ([, block = ""]) => block),
  ).flatMap((block) =>
    Array.from(block.matchAll(/^.*\bcurl\b.*$|^ +-[Hd] .*$/gm), ([line]) => line.match(/\$\w+/g) ?? []).flat(),
  );
  assert.ok(names.length > 8);
  assert.deepEqual([...new Set(names)].toSorted(), ["$SERVICE", "$TRIBUTARY_API_KEY"]);
});

test("the table of rate limits has every operation with its own", () => {
  const rows = read("docs/integrate/errors-and-retries.md").matchAll(
    /^\| (\d+)(?:, and (\d+) for one intent)? \| (`.*`) \|$/gm,
  );
  const said = Array.from(rows, ([, perMinute, ofIntent, names = ""]) =>
    names.split(", ").map((name) => `${name.replaceAll("`", "")} ${perMinute} ${ofIntent ?? "-"}`),
  );
  const limits = OPERATIONS.map(
    ({ operationId, perMinute, perMinuteAndIntent }) => `${operationId} ${perMinute} ${perMinuteAndIntent ?? "-"}`,
  );
  assert.deepEqual(said.flat().toSorted(), limits.toSorted());
});

test("NOTICE names files that exist, and every package that the pages' scripts contain", async () => {
  const notice = read("NOTICE");
  const paths = notice.match(/\b(?:src|packages|contracts)\/[\w./-]+\w/g) ?? [];
  assert.ok(paths.length > 2);
  assert.deepEqual(
    paths.filter((path) => !existsSync(join(ROOT, path))),
    [],
  );
  const entryPoints = [
    ...globSync("packages/checkout/page/*.ts", { cwd: ROOT }),
    "packages/recover/page/main.ts",
    "packages/sdk/src/mount.ts",
  ];
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints,
    bundle: true,
    write: false,
    outdir: "x",
    format: "esm",
    metafile: true,
  });
  const packages = new Set(
    Object.keys(metafile.inputs).flatMap((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []),
  );
  assert.ok(packages.has("uqr"));
  for (const name of packages) assert.ok(notice.includes(name), `NOTICE lacks ${name}`);
  assert.ok(read("packages/recover/recover.html").includes(notice.trimEnd()));
});

test("README counts the operations as the API has them", () => {
  const [, count] = /(\d+) operations/.exec(read("README.md")) ?? [];
  assert.equal(count, String(OPERATIONS.length));
});
