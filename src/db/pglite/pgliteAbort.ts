import type { PGlite } from "@electric-sql/pglite";
import { DatabaseCrashed } from "../errors.ts";

/** The status with which the WebAssembly build leaves its main loop after an ordinary PostgreSQL error. */
const ORDINARY_ERROR_STATUS = 100;

type Engine = {
  _PostgresMainLoopOnce: () => void;
  _PostgresSendReadyForQueryIfNecessary: () => void;
  stackRestore: (stack: number) => void;
  _emscripten_force_exit: (status: number) => void;
};

/**
 * Turns a crash of the WebAssembly engine into a DatabaseCrashed. PGlite itself swallows the exception and enters its
 * main loop again, so an engine that always throws blocks the thread permanently. The three functions replaced here run
 * after such an exception, and each now ends the round trip.
 */
export function crashOnAbort(pglite: PGlite, onAbort: (error: DatabaseCrashed) => void): void {
  const engine = engineOf(pglite);
  const runOnce = engine._PostgresMainLoopOnce;
  engine._PostgresMainLoopOnce = () => {
    try {
      runOnce();
    } catch (cause) {
      if (statusOf(cause) === ORDINARY_ERROR_STATUS) throw cause;
      const error = new DatabaseCrashed(`the embedded database crashed: ${String(cause)}`, { cause });
      const rethrow = () => {
        throw error;
      };
      engine._PostgresMainLoopOnce = rethrow;
      engine._PostgresSendReadyForQueryIfNecessary = rethrow;
      engine.stackRestore = rethrow;
      forceExit(engine);
      onAbort(error);
      throw error;
    }
  };
}

// The engine's timers would otherwise keep running. The engine reports its exit with a throw.
function forceExit(engine: Engine): void {
  try {
    engine._emscripten_force_exit(1);
  } catch {
    return;
  }
}

function engineOf(pglite: PGlite): Engine {
  const engine: unknown = Reflect.get(pglite, "mod");
  if (isEngine(engine)) return engine;
  throw new Error("this version of PGlite has another internal structure: see pgliteAbort.ts");
}

function isEngine(value: unknown): value is Engine {
  if (typeof value !== "object" || value === null) return false;
  const steps = [
    "_PostgresMainLoopOnce",
    "_PostgresSendReadyForQueryIfNecessary",
    "stackRestore",
    "_emscripten_force_exit",
  ];
  return steps.every((step) => typeof Reflect.get(value, step) === "function");
}

function statusOf(cause: unknown): unknown {
  return typeof cause === "object" && cause !== null ? Reflect.get(cause, "status") : undefined;
}
