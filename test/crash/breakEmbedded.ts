import process from "node:process";
import { PGlite } from "@electric-sql/pglite";

// Preloaded before the service. At SIGUSR2 the embedded database's engine breaks, as WebAssembly does without memory or
// after a compiler error.

type Engine = { _PostgresMainLoopOnce: () => void };

let isBroken = false;
process.on("SIGUSR2", () => {
  isBroken = true;
});

const create = PGlite.create.bind(PGlite) as (...args: unknown[]) => Promise<PGlite>;
Reflect.set(PGlite, "create", async (...args: unknown[]) => {
  const made = await create(...args);
  const engine = Reflect.get(made, "mod") as Engine;
  const runOnce = engine._PostgresMainLoopOnce;
  engine._PostgresMainLoopOnce = () => {
    if (isBroken) throw new WebAssembly.RuntimeError("unreachable");
    runOnce();
  };
  return made;
});
