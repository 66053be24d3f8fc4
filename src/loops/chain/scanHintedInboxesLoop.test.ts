import { equal, ok } from "node:assert/strict";
import { test } from "node:test";
import type { Chain } from "../../chain/chain.ts";
import type { Role } from "../../config/operate/roles.ts";
import type { World } from "../../world.ts";
import { scanHintedInboxesLoop } from "./scanHintedInboxesLoop.ts";

test("a process that answers no requests looks for the hints of others by itself", () => {
  const intervalOf = (...roles: Role[]) =>
    scanHintedInboxesLoop(
      { config: { roles: new Set(roles) } } as unknown as World,
      { caip2: "eip155:1" } as unknown as Chain,
    ).intervalMs;
  equal(intervalOf("watch", "deliver"), 1_000);
  ok(intervalOf("api", "watch") > 60_000, "its own requests wake it");
});
