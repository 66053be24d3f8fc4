import type { World } from "../../world.ts";
import { readInput, type GivenOf, type InputOf, type InputShape } from "./inputFields.ts";

/**
 * One operation of the operator. Commands and pages call it by its name, on a world of their own or through the control
 * socket.
 */
export type OperatorOperation<Given, Output> = {
  /** `read` changes no row, and sends nothing to a chain. */
  effect: "read" | "write";
  input: InputShape;
  /**
   * Reads what a caller passed, which may come from another version, and runs. Throws UsageError, CommandError or
   * Fault.
   */
  run: (world: World, given: unknown) => Promise<Output>;
  /** What a caller may pass. Exists in the type only. */
  given?: Given;
};

type Definition<Shape extends InputShape, Output> = {
  effect: "read" | "write";
  input: Shape;
  run: (world: World, input: InputOf<Shape>) => Promise<Output & Json<Output>>;
};

/** The types that are the same after JSON. A Date or a bigint in an output does not compile. */
type Json<T> = T extends string | number | boolean | null | undefined
  ? T
  : T extends Date | bigint | ReadonlyMap<unknown, unknown> | ReadonlySet<unknown> | ((...args: never[]) => unknown)
    ? never
    : T extends object
      ? { [Key in keyof T]: Json<T[Key]> }
      : T;

export function defineOperatorOperation<const Shape extends InputShape, Output>({
  effect,
  input,
  run,
}: Definition<Shape, Output>): OperatorOperation<GivenOf<Shape>, Output> {
  return { effect, input, run: async (world, given) => run(world, readInput(input, given)) };
}
