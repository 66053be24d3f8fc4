import { readdirSync, readFileSync } from "node:fs";

/** A page of `docs`; its folder is empty for those that stand in none. */
export type Guide = { folder: string; url: string; title: string; markdown: string };

const FOLDERS = ["", "integrate", "operate", "why"] as const;
const DOCS = new URL("../../../docs/", import.meta.url);

/** All guides, in the order of their files' names. */
export function readGuides(): Guide[] {
  return FOLDERS.flatMap((folder) => {
    const files = readdirSync(new URL(`./${folder}`, DOCS)).filter((file) => file.endsWith(".md"));
    return files.toSorted((one, other) => one.localeCompare(other)).map((file) => readGuide(folder, file));
  });
}

function readGuide(folder: string, file: string): Guide {
  const path = folder === "" ? file : `${folder}/${file}`;
  const markdown = readFileSync(new URL(path, DOCS), "utf8");
  const title = /^# (.+)$/m.exec(markdown)?.[1] ?? file;
  return { folder, url: `/docs/${path.replace(/\.md$/, "")}`, title, markdown };
}
