import process from "node:process";

export type BugSearch<Bug> = {
  /** What found the bug; undefined when nothing did, which shows a missing test. */
  find: (bug: Bug) => Promise<string | undefined>;
  /** How many bugs are planted at once. */
  workers?: number;
  /** The bug's row, without what found it. */
  titleOf?: (bug: Bug) => string;
};

/** Plants each bug, prints what found it, and lets the process fail when nothing finds one. */
export async function reportPlantedBugs<Bug extends { readonly name: string }>(
  bugs: readonly Bug[],
  { find, workers = 1, titleOf = ({ name }) => name }: BugSearch<Bug>,
): Promise<void> {
  const waiting = bugs.values();
  const missed: string[] = [];
  const width = Math.max(...bugs.map((bug) => titleOf(bug).length));
  const work = async () => {
    for (const bug of waiting) {
      const started = performance.now();
      const found = await find(bug);
      if (found === undefined) missed.push(bug.name);
      const seconds = ((performance.now() - started) / 1_000).toFixed(0);
      process.stdout.write(`${titleOf(bug).padEnd(width)} ${seconds.padStart(5)} s  ${found ?? "— missed"}\n`);
    }
  };
  await Promise.all(Array.from({ length: workers }, work));
  process.stdout.write(`${bugs.length} bugs planted, ${bugs.length - missed.length} found\n`);
  for (const name of missed) process.stderr.write(`Not found: ${name}\n`);
  if (missed.length > 0) process.exitCode = 1;
}

type Mutation = { readonly name: string; readonly search: string; readonly replace: string };

/** Why these bugs cannot be planted: each has a name of its own, and changes the one place that its text matches. */
export function unplantable<Bug extends Mutation>(bugs: readonly Bug[], sourceOf: (bug: Bug) => string): string[] {
  const twice = bugs.filter(({ name }, index) => bugs.findIndex((each) => each.name === name) !== index);
  const changed = bugs.filter((bug) => sourceOf(bug).split(bug.search).length !== 2 || bug.search === bug.replace);
  return [
    ...twice.map(({ name }) => `two bugs are called "${name}"`),
    ...changed.map(({ name, search }) => `"${name}" must change the one place of its text: ${search}`),
  ];
}
