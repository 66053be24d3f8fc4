import type { Page } from "../operator/lists/page.ts";
import { toJson } from "../operator/process/terminal.ts";
import type { CommandInput, OptionSpec } from "./command.ts";

/** The options of every command that lists rows in pages. */
export const PAGE_OPTIONS: Readonly<Record<string, OptionSpec>> = {
  limit: { value: "COUNT", summary: "number of rows to show, 1 to 1000; default 20" },
  cursor: { value: "CURSOR", summary: "show the rows after this one: the cursor that the page before ends with" },
};

export function readPageOptions({ values }: CommandInput): { limit: string | undefined; cursor: string | undefined } {
  return { limit: values["limit"], cursor: values["cursor"] };
}

/** Prints the rows, and how to get the next page. With --json, the rows are one array. */
export function printPage<T>(
  { terminal, asJson }: CommandInput,
  { data, nextCursor }: Page<T>,
  format: (rows: readonly T[]) => string[],
): void {
  if (asJson) terminal.out(toJson(data));
  else for (const line of format(data)) terminal.out(line);
  if (nextCursor !== null) terminal.note(`More rows follow: --cursor ${nextCursor}`);
}
