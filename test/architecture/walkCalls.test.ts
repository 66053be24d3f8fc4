import { deepEqual, throws } from "node:assert/strict";
import { describe, it } from "node:test";
import { createCodebase } from "./codebase.ts";
import { findFolderCircles, noFolderCircles } from "./importCycles.ts";
import { walkCalls } from "./walkCalls.ts";

const WATCHED = createCodebase([
  [
    "src/watch/follow.ts",
    `import { apply as write } from "./apply.ts";
import { log } from "./log.ts";
export async function follow(world: World, chain: Chain): Promise<void> {
  await write(world, chain, { at: 1 });
  log(chain.caip2);
  // apply(world) of a comment is no call.
  await write(world, chain, { at: 2 });
}
export function name(chain: Chain): string {
  return chain.caip2;
}
`,
  ],
  [
    "src/watch/apply.ts",
    `import { name } from "./follow.ts";
class Queue {
  constructor(chain: Chain) {
    name(chain);
  }
}
export function apply(world: World, chain: Chain, { at }: { at: number }): void {
  new Queue(chain);
}
`,
  ],
  ["src/watch/log.ts", "export function log({ chain }: { chain: string }): void {}\n"],
]);

describe("a walk over calls", () => {
  it("counts calls of functions that take the parameter, their files, and the ways back", () => {
    deepEqual(walkCalls(WATCHED, { name: "follow", parameter: "chain" }), {
      // Twice apply, Queue, and name.
      calls: 4,
      files: ["src/watch/follow.ts", "src/watch/apply.ts"],
      // The second call of apply, and name.
      returns: 2,
    });
  });

  it("refuses a function without the parameter", () => {
    throws(() => walkCalls(WATCHED, { name: "log", parameter: "chain" }), /log/);
  });
});

describe("circles of folders", () => {
  const importing = (path: string, ...targets: string[]) =>
    [path, targets.map((target, index) => `import { a as a${index} } from "${target}";\n`).join("")] as const;

  it("finds folders that import each other by different files", () => {
    const codebase = createCodebase([
      importing("src/watch/one/a.ts", "../two/b.ts"),
      importing("src/watch/two/b.ts"),
      importing("src/watch/two/c.ts", "../one/d.ts"),
      importing("src/watch/one/d.ts"),
    ]);
    const [circle = []] = findFolderCircles(codebase);
    deepEqual(
      circle.map(({ from, to }) => `${from} ${to}`),
      ["src/watch/one src/watch/two", "src/watch/two src/watch/one"],
    );
    deepEqual(noFolderCircles(codebase).length, 1);
  });

  it("lets a file beside folders stand for itself", () => {
    const codebase = createCodebase([
      importing("src/watch/types.ts"),
      importing("src/watch/main.ts", "./one/a.ts"),
      importing("src/watch/one/a.ts", "../types.ts"),
    ]);
    deepEqual(findFolderCircles(codebase), []);
  });
});
