import { AsyncResource, createHook } from "node:async_hooks";
import { createRequire } from "node:module";
import { join } from "node:path";
import process from "node:process";
import { beforeEach, suite } from "node:test";
import { pathToFileURL } from "node:url";

// The entry point of a test process. Each file becomes its own suite, so that hooks stay separate and failures name the
// file. The runner's pipe closes when the runner ends, kill -9 included; then this process ends as well.

export type FilesToRun = { root: string; files: readonly string[]; preload: readonly string[] };
export const FILES_VARIABLE = "TRIBUTARY_TEST_FILES";

const { root, files, preload } = JSON.parse(process.env[FILES_VARIABLE] ?? "{}") as FilesToRun;
delete process.env[FILES_VARIABLE];

// A process that a test forks is no test run, so it must not inherit these options.
process.execArgv.splice(0);

process.stdin.once("close", () => process.exit(1)).resume();
(process.stdin as { unref?: () => void }).unref?.();

const require = createRequire(import.meta.url);
const stopPromiseTracking = holdPromiseTracking();
let running = "the files load";
reportUncaughtErrors();
for (const module of preload) await import(urlOf(module));
let loaded: Promise<void> = Promise.resolve();
for (const file of files) suite(file, { timeout: Infinity }, () => loadFile(file));
void loaded.then(stopPromiseTracking);

/**
 * Loads a file with its tests. Synchronously, unless a module of it awaits at its top level, because every promise
 * costs here.
 */
function loadFile(file: string): Promise<void> | undefined {
  try {
    require(join(root, file));
    return undefined;
  } catch (error) {
    if ((error as { code?: unknown }).code !== "ERR_REQUIRE_ASYNC_MODULE") throw error;
  }
  // One after the other, each in the scope of its suite: files that wait for the same module would otherwise share one
  // suite.
  const scope = new AsyncResource("TestFile");
  const load = loaded.then(() => scope.runInAsyncScope(() => import(urlOf(file)))).then(() => undefined);
  loaded = load.catch(() => undefined);
  return load;
}

/**
 * node:test follows every promise from its creation to its collection, which makes one thirty times as expensive. While
 * files load, this finds the suite of a test. Afterwards it would only name the test of an uncaught error, as
 * `reportUncaughtErrors` does.
 */
function holdPromiseTracking(): () => void {
  type Hook = { enable: (this: Hook) => Hook; disable: (this: Hook) => Hook };
  const prototype = Object.getPrototypeOf(createHook({})) as Hook;
  const { enable } = prototype;
  const hooks: Hook[] = [];
  prototype.enable = function enableFirst() {
    prototype.enable = enable;
    hooks.push(this);
    return enable.call(this);
  };
  return () => hooks.forEach((hook) => hook.disable());
}

/** The runner counts an uncaught error as a failure of the process. This adds its stack and the running test. */
function reportUncaughtErrors(): void {
  beforeEach((test) => {
    running = test.name;
  });
  for (const event of ["uncaughtException", "unhandledRejection"] as const)
    process.on(event, (error: unknown) => console.error(`✖ uncaught during "${running}":`, error));
}

function urlOf(file: string): string {
  return pathToFileURL(join(root, file)).href;
}
