import type { FastifyInstance } from "fastify";
import type { World } from "../../world.ts";

export function addCheckout(_server: FastifyInstance, _world: World): void {}
