import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

export type DirectoryLock = { release(): void };

/** Another process uses the directory. */
export class DirectoryInUse extends Error {
  override readonly name = "DirectoryInUse";
}

/**
 * Locks `directory` (created when missing) for this process, or throws DirectoryInUse at once with the holder's process
 * id. The lock is an SQLite file held open for writing: the operating system releases it when the process ends in any
 * way. No code here may open and close that file again, because closing any handle of it drops the lock of the whole
 * process.
 */
export function lockDirectory(directory: string): DirectoryLock {
  mkdirSync(directory, { recursive: true });
  const holderFile = join(directory, "lock.pid");
  const file = new DatabaseSync(join(directory, "lock.sqlite"), { timeout: 0 });
  try {
    file.exec(
      "pragma locking_mode = exclusive; begin exclusive; create table if not exists held (x); commit; begin exclusive",
    );
  } catch (error) {
    file.close();
    if (!isBusy(error)) throw error;
    throw new DirectoryInUse(`the database directory ${directory} is in use by ${describeHolder(holderFile)}`);
  }
  writeFileSync(holderFile, String(process.pid));
  return {
    release() {
      if (!file.isOpen) return;
      rmSync(holderFile, { force: true });
      file.close();
    },
  };
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && /database is locked/.test(error.message);
}

function describeHolder(holderFile: string): string {
  try {
    return `process ${readFileSync(holderFile, "utf8")}`;
  } catch {
    return "another process that is starting";
  }
}
