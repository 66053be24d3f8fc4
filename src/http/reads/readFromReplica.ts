import type { FastifyReply } from "fastify";
import { classifyError } from "../../kernel/errors/classifyError.ts";
import { Fault } from "../../kernel/faults.ts";
import type { World } from "../../world.ts";

export type ReplicaWorld = Pick<World, "db" | "replica">;

/** `asOf`: of a read from the copy, the time until which it shows every commit. */
export type ReplicaRead<T> = { result: T; asOf: Date | undefined };

/**
 * Runs reads on the copy of the database where one is usable, else on the database. What fails on the copy runs again
 * on the database: a copy cancels statements, and lacks the newest rows.
 */
export async function readFromReplica<W extends ReplicaWorld, T>(
  world: W,
  run: (world: W) => Promise<T>,
): Promise<ReplicaRead<T>> {
  const { replica } = world;
  const usable = await replica?.find();
  if (replica !== undefined && usable !== undefined) {
    try {
      return { result: await run({ ...world, db: usable.db }), asOf: usable.asOf };
    } catch (error) {
      if (classifyError(error) === "fatal") throw error;
      if (!(error instanceof Fault)) replica.skip(error);
    }
  }
  return { result: await run(world), asOf: undefined };
}

/** The same for a page, whose headers say how old it is. */
export async function readPageFromReplica<W extends ReplicaWorld, T>(
  world: W,
  reply: FastifyReply,
  run: (world: W) => Promise<T>,
): Promise<T> {
  const { result, asOf } = await readFromReplica(world, run);
  setAsOf(reply, asOf);
  return result;
}

export function setAsOf(reply: FastifyReply, asOf: Date | undefined): void {
  if (asOf !== undefined) reply.header("tributary-as-of", asOf.toISOString());
}
