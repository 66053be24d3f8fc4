import process from "node:process";
import { PGlite } from "@electric-sql/pglite";

// Loaded before the service: at SIGUSR2 the embedded database's engine breaks down, as WebAssembly does when it runs out of memory
// or meets a mistake of its compiler.

type Engine = { _PostgresMainLoopOnce: () => void };

let isBroken = false;
process.on("SIGUSR2", () => {
  isBroken = true;
});

const create = PGlite.create.bind(PGlite) as (...given: unknown[]) => Promise<PGlite>;
Reflect.set(PGlite, "create", async (...given: unknown[]) => {
  const made = await create(...given);
  const engine = Reflect.get(made, "mod") as Engine;
  const runOnce = engine._PostgresMainLoopOnce;
  engine._PostgresMainLoopOnce = () => {
    if (isBroken) throw new WebAssembly.RuntimeError("unreachable");
    runOnce();
  };
  return made;
});
