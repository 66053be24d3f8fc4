import type { World } from "../world.ts";
import type { BookingLimits } from "./store/bookMovements.ts";

export type WatchWorld = Pick<World, "db" | "clock" | "wake" | "memory" | "catalog" | "log"> & BookingLimits;
