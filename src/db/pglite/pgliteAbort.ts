import type { PGlite } from "@electric-sql/pglite";
import { DatabaseCrashed } from "../errors.ts";

/** The status with which the WebAssembly build leaves its main loop when PostgreSQL raised an ordinary error. */
const ORDINARY_ERROR_STATUS = 100;

type Engine = {
  _PostgresMainLoopOnce: () => void;
  _PostgresSendReadyForQueryIfNecessary: () => void;
  stackRestore: (stack: number) => void;
  _emscripten_force_exit: (status: number) => void;
};

/**
 * Turns a breakdown of the WebAssembly engine into a DatabaseCrashed. Left to itself PGlite swallows whatever its main loop
 * throws and enters the loop again, so that an engine which always throws spins for ever on a thread that nobody can interrupt.
 * The three functions replaced here are the steps that it takes after a throw, and each of them now ends the round.
 */
export function crashOnAbort(pglite: PGlite, onAbort: (error: DatabaseCrashed) => void): void {
  const engine = engineOf(pglite);
  const runOnce = engine._PostgresMainLoopOnce;
  engine._PostgresMainLoopOnce = () => {
    try {
      runOnce();
    } catch (cause) {
      if (statusOf(cause) === ORDINARY_ERROR_STATUS) throw cause;
      const error = new DatabaseCrashed(`the embedded database broke down: ${String(cause)}`, { cause });
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

// The engine's own timers would go on in what is left of it. Its exit is told by a throw.
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
  throw new Error("this version of PGlite keeps its engine elsewhere: see pgliteAbort.ts");
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
