import { readdirSync, readFileSync } from "node:fs";

/** A page of `docs`; `folder` is empty for top-level pages. */
export type Guide = { folder: string; url: string; title: string; markdown: string };

const GUIDE_FOLDERS = ["integrate", "operate", "networks", "why", ""] as const;
/** Guides to read first, in this order. All others follow by name. */
const READING_ORDER: readonly string[] = [
  "first-intent.md",
  "deposits-and-settlements.md",
  "webhooks.md",
  "fulfil.md",
  "errors-and-retries.md",
  "testing.md",
  "customers.md",
  "refunds.md",
  "versioning.md",
  "packages.md",
  "install.md",
  "configuration.md",
  "chains.md",
  "reading.md",
  "go-live.md",
  "ops.md",
  "alarms.md",
  "metrics.md",
  "accounts.md",
  "proxy.md",
];
const DOCS_DIRECTORY = new URL("../../../docs/", import.meta.url);

/** Reads all guides, in reading order. */
export function readGuides(): Guide[] {
  return GUIDE_FOLDERS.flatMap((folder) => {
    const files = readdirSync(new URL(`./${folder}`, DOCS_DIRECTORY)).filter(
      (file) => file.endsWith(".md") && file !== "README.md",
    );
    const sorted = files.toSorted(
      (one, other) => readingPosition(one) - readingPosition(other) || one.localeCompare(other),
    );
    return sorted.map((file) => readGuide(folder, file));
  });
}

function readingPosition(file: string): number {
  const index = READING_ORDER.indexOf(file);
  return index < 0 ? READING_ORDER.length : index;
}

function readGuide(folder: string, file: string): Guide {
  const path = folder === "" ? file : `${folder}/${file}`;
  const markdown = readFileSync(new URL(path, DOCS_DIRECTORY), "utf8");
  const title = /^# (.+)$/m.exec(markdown)?.[1] ?? file;
  return { folder, url: `/docs/${path.replace(/\.md$/, "")}`, title, markdown };
}
