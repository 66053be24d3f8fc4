import { once } from "node:events";
import { connect } from "node:net";
import { sql } from "kysely";
import type { Db } from "../../src/db/database.ts";
import { systemEntropy } from "../../src/kernel/entropy.ts";
import { newApiKey } from "../../src/merchant/keys/apiKey.ts";

export type GuessOptions = {
  port: number;
  requests: number;
  db: Db;
  /** Formats the service's memory. */
  formatMemory: () => string;
};

const CONNECTIONS = 8;
/** The server's limit of requests per connection. */
const REQUESTS_PER_CONNECTION = 1_000;
const REPORT_EVERY = 50_000;

/** Sends well-formed unknown keys, each from another network, and prints the remaining memory and rows. */
export async function guessKeys(options: GuessOptions): Promise<void> {
  const { requests, db, formatMemory } = options;
  const startedMs = performance.now();
  let begun = 0;
  let sentCount = 0;
  let reportedAt = 0;
  const statuses = new Map<string, number>();
  const work = async () => {
    while (begun < requests) {
      const from = begun;
      begun += REQUESTS_PER_CONNECTION;
      for (const status of await sendGuesses(options, from)) statuses.set(status, (statuses.get(status) ?? 0) + 1);
      sentCount += REQUESTS_PER_CONNECTION;
      if (sentCount - reportedAt < REPORT_EVERY) continue;
      reportedAt = sentCount;
      const perS = sentCount / ((performance.now() - startedMs) / 1_000);
      const counts = [...statuses].map(([status, count]) => `${count} × ${status}`).join(", ");
      console.log(
        `${sentCount} guesses, ${perS.toFixed(0)} a second (${counts}); ${formatMemory()}; ${await formatRateLogSize(db)}`,
      );
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, work));
}

async function formatRateLogSize(db: Db): Promise<string> {
  // The test PostgreSQL runs without autovacuum.
  await sql`vacuum rate_log`.execute(db.root);
  const { rows: found } = await sql<{ count: string; bytes: string }>`
    select count(*) as count, pg_total_relation_size('rate_log') as bytes from rate_log`.execute(db.root);
  const [{ count, bytes } = { count: 0, bytes: 0 }] = found;
  return `rate_log has ${count} rows, ${(Number(bytes) / 1_048_576).toFixed(0)} MiB`;
}

async function sendGuesses({ port }: GuessOptions, from: number): Promise<string[]> {
  const socket = connect({ host: "127.0.0.1", port });
  let text = "";
  socket.on("data", (chunk: Buffer) => {
    text += chunk.toString("latin1");
  });
  socket.on("error", () => {});
  const requests = Array.from({ length: REQUESTS_PER_CONNECTION }, (_, index) => buildGuess(from + index));
  socket.write(requests.join(""));
  await once(socket, "close");
  return [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status = ""]) => status);
}

function buildGuess(number: number): string {
  const { apiKey } = newApiKey("test", systemEntropy);
  const network = `2001:db8:${(number >> 16).toString(16)}:${(number & 0xffff).toString(16)}::1`;
  const headers = `authorization: Bearer ${apiKey}\r\nservice-version: 2026-11-01\r\nx-forwarded-for: ${network}\r\n`;
  return `GET /api/v1/intents HTTP/1.1\r\nhost: x\r\n${headers}\r\n`;
}
