import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";

const GONE_TRIES_MAX = 4_800;
const GONE_PAUSE_MS = 25;

const program = `
  import { startPostgres } from ${JSON.stringify(new URL("postgres.ts", import.meta.url).href)};
  const server = await startPostgres();
  console.log(JSON.stringify({ url: server.urlOf("postgres"), directory: server.dataDirectory }));
  if (process.argv[1] === "stay") process.stdin.resume();
`;

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function untilGone(pid: number, home: string): Promise<void> {
  for (let tries = 0; tries < GONE_TRIES_MAX && (isAlive(pid) || existsSync(home)); tries++) await sleep(GONE_PAUSE_MS);
  assert.ok(!isAlive(pid), "the server still runs");
  assert.ok(!existsSync(home), "its files are still there");
}

test("a server ends with the process that started it, also after a kill, and its files are removed", async () => {
  const starter = spawn(process.execPath, ["--input-type=module", "-e", program, "stay"], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const [line] = await once(starter.stdout, "data");
  const { url, directory } = JSON.parse(String(line));
  const pid = Number(readFileSync(join(directory, "postmaster.pid"), "utf8").split("\n")[0]);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  assert.deepEqual((await client.query("select 1 as one")).rows, [{ one: 1 }]);
  await client.end();

  starter.kill("SIGKILL");
  await once(starter, "exit");
  await untilGone(pid, dirname(directory));
});

test("a running server does not keep its process alive", async () => {
  const starter = spawn(process.execPath, ["--input-type=module", "-e", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = await once(starter.stdout, "data");
  const { directory } = JSON.parse(String(line));
  const [exitCode] = await once(starter, "exit");
  assert.equal(exitCode, 0);
  for (let tries = 0; tries < GONE_TRIES_MAX && existsSync(dirname(directory)); tries++) await sleep(GONE_PAUSE_MS);
  assert.ok(!existsSync(dirname(directory)));
});
