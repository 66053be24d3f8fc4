import { readdirSync, readFileSync } from "node:fs";

/** A page of one of the folders of `docs` that are for reading. */
export type Guide = { folder: string; name: string; url: string; title: string; markdown: string };

const FOLDERS = ["integrate", "operate", "why"] as const;
const DOCS = new URL("../../../docs/", import.meta.url);

/** All guides, in the order of their files' names. Throws when one has no heading. */
export function readGuides(): Guide[] {
  return FOLDERS.flatMap((folder) => {
    const files = readdirSync(new URL(`${folder}/`, DOCS)).filter((file) => file.endsWith(".md"));
    return files.toSorted((one, other) => one.localeCompare(other)).map((file) => readGuide(folder, file));
  });
}

function readGuide(folder: string, file: string): Guide {
  const markdown = readFileSync(new URL(`${folder}/${file}`, DOCS), "utf8");
  const name = file.replace(/\.md$/, "");
  const title = /^# (.+)$/m.exec(markdown)?.[1];
  if (title === undefined) throw new Error(`docs/${folder}/${file} begins with no heading`);
  return { folder, name, url: `/docs/${folder}/${name}`, title, markdown };
}
