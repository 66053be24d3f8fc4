import { spawnSync } from "node:child_process";
import type { Share } from "./deepParts.ts";

const DAY_MS = 86_400_000;

/** Chooses the next share at each commit, so that as many commits as there are shares run everything. */
export function chooseShare(directory: string, shareCount: number, nowMs = Date.now()): Share {
  return { number: 1 + (numberOfRun(directory, nowMs) % shareCount), of: shareCount };
}

/**
 * The number of a run: how many commits there are. A shallow clone counts few, so the commit's hash is the number
 * there. Outside of a repository the day is.
 */
export function numberOfRun(directory: string, nowMs = Date.now()): number {
  const isShallow = git(directory, ["rev-parse", "--is-shallow-repository"]);
  if (isShallow === "false") return Number(git(directory, ["rev-list", "--count", "HEAD"]) ?? 0);
  const hash = git(directory, ["rev-parse", "HEAD"]);
  return hash === undefined ? Math.floor(nowMs / DAY_MS) : Number.parseInt(hash.slice(0, 8), 16);
}

function git(cwd: string, args: readonly string[]): string | undefined {
  const { status, stdout } = spawnSync("git", args, { cwd, encoding: "utf8" });
  return status === 0 ? stdout.trim() : undefined;
}
