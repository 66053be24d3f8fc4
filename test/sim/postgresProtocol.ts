// The few messages of PostgreSQL's protocol that a simulation needs, without a stream. A run executes hundreds of
// statements, each within one call.

const EMPTY = Buffer.alloc(0);

/** Prepares a statement under a name. */
export function parseMessage(name: string, text: string): Buffer {
  return encodeMessage("P", Buffer.from(`${name}\0${text}\0`), Buffer.from([0, 0]));
}

export function describeMessage(name: string): Buffer {
  return encodeMessage("D", Buffer.from(`S${name}\0`), EMPTY);
}

export const syncMessage = encodeMessage("S", EMPTY, EMPTY);
const executeMessage = encodeMessage("E", Buffer.from([0, 0, 0, 0, 0]), EMPTY);

/** Binds text parameters to a prepared statement and runs it. */
export function bindAndExecuteMessage(name: string, values: readonly (string | null)[]): Buffer {
  const texts = values.map((value) => (value === null ? undefined : Buffer.from(value)));
  const length = texts.reduce((sum, text) => sum + 4 + (text?.length ?? 0), 0);
  const head = Buffer.from(`\0${name}\0`);
  const body = Buffer.allocUnsafe(head.length + 4 + length + 2);
  let at = head.copy(body);
  at = body.writeInt16BE(0, at);
  at = body.writeInt16BE(values.length, at);
  for (const text of texts) {
    at = body.writeInt32BE(text?.length ?? -1, at);
    if (text) at += text.copy(body, at);
  }
  body.writeInt16BE(0, at);
  return Buffer.concat([encodeMessage("B", body, EMPTY), executeMessage]);
}

function encodeMessage(type: string, head: Buffer, tail: Buffer): Buffer {
  const whole = Buffer.allocUnsafe(5 + head.length + tail.length);
  whole.write(type, 0);
  whole.writeInt32BE(4 + head.length + tail.length, 1);
  head.copy(whole, 5);
  tail.copy(whole, 5 + head.length);
  return whole;
}

export type Reply = {
  /** The columns of the last described statement. */
  columns: { name: string; typeId: number }[];
  rows: (string | null)[][];
  /** The tag of the last executed statement. */
  commandTag: string;
  error: Error | undefined;
};

/** Reads all messages up to the end of a round. */
export function readReply(bytes: Uint8Array): Reply {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const reply: Reply = { columns: [], rows: [], commandTag: "", error: undefined };
  for (let at = 0; at + 5 <= buffer.length;) {
    const type = String.fromCharCode(buffer[at] ?? 0);
    const end = at + 1 + buffer.readInt32BE(at + 1);
    readMessage(reply, type, buffer.subarray(at + 5, end));
    at = end;
  }
  return reply;
}

function readMessage(reply: Reply, type: string, body: Buffer): void {
  switch (type) {
    case "T":
      reply.columns = readColumns(body);
      return;
    case "D":
      reply.rows.push(readRow(body));
      return;
    case "C":
      reply.commandTag = body.toString("utf8", 0, body.length - 1);
      return;
    case "E":
      reply.error ??= readError(body);
      return;
    default:
  }
}

function readColumns(body: Buffer): Reply["columns"] {
  const columns: Reply["columns"] = [];
  for (let at = 2; at < body.length;) {
    const end = body.indexOf(0, at);
    // After the name: table, column, type and three more numbers.
    columns.push({ name: body.toString("utf8", at, end), typeId: body.readInt32BE(end + 7) });
    at = end + 19;
  }
  return columns;
}

function readRow(body: Buffer): (string | null)[] {
  const row: (string | null)[] = [];
  for (let at = 2; at < body.length;) {
    const length = body.readInt32BE(at);
    at += 4;
    row.push(length < 0 ? null : body.toString("utf8", at, at + length));
    if (length > 0) at += length;
  }
  return row;
}

const ERROR_FIELDS: Readonly<Record<string, string>> = {
  S: "severity",
  C: "code",
  M: "message",
  D: "detail",
  n: "constraint",
  t: "table",
};

function readError(body: Buffer): Error {
  const error = new Error("the database refused a statement");
  for (const field of body.toString().split("\0")) {
    const name = ERROR_FIELDS[field.charAt(0)];
    if (name !== undefined) Object.assign(error, { [name]: field.slice(1) });
  }
  return error;
}
