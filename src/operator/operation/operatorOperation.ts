import type { World } from "../../world.ts";
import { readInput, type GivenOf, type InputOf, type InputShape } from "./inputFields.ts";

/**
 * One operation of the operator. Commands and pages call it by its name, on a world of their own or through the control
 * socket.
 */
export type OperatorOperation<Given, Output> = {
  /** `read` changes no row, and sends nothing to a chain. */
  effect: "read" | "write";
  /** Reads what a caller passed, which may come from another version. Throws UsageError, CommandError or Fault. */
  run: (world: World, given: Given) => Promise<Output>;
};

type Definition<Shape extends InputShape, Output> = {
  effect: "read" | "write";
  input: Shape;
  run: (world: World, input: InputOf<Shape>) => Promise<Output>;
};

export function defineOperatorOperation<const Shape extends InputShape, Output>({
  effect,
  input,
  run,
}: Definition<Shape, Output>): OperatorOperation<GivenOf<Shape>, Output> {
  return { effect, run: async (world, given) => run(world, readInput(input, given)) };
}
