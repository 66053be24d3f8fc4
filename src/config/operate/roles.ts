import { closestMatch } from "../../kernel/text/closestMatch.ts";
import { ConfigError } from "../section.ts";

/**
 * What a process does. `api` answers requests; `watch` reads chains, counts deposits, numbers events and deletes old
 * rows; `settle` sends transactions, and alone reads the keys that pay for them; `deliver` sends webhooks.
 */
export const ROLES = ["api", "watch", "settle", "deliver"] as const;
export type Role = (typeof ROLES)[number];

/** Parses roles that are separated by commas. Throws ConfigError. */
export function parseRoles(text: string): ReadonlySet<Role> {
  const roles = text.split(",").map((word) => {
    const name = word.trim();
    const role = ROLES.find((known) => known === name);
    if (role !== undefined) return role;
    const closest = closestMatch(name, ROLES);
    const remedy = closest === undefined ? `give some of ${ROLES.join(", ")}` : `did you mean ${closest}?`;
    throw new ConfigError(`--role: ${JSON.stringify(name)} is no role; ${remedy}`);
  });
  return new Set(roles);
}

/** Whether a process with this configuration has a role. Without `roles` it has every one. */
export function hasRole({ roles }: { roles?: ReadonlySet<Role> | undefined }, role: Role): boolean {
  return roles === undefined || roles.has(role);
}
