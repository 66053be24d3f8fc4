import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeCursor, encodeCursor, type CursorScope } from "./cursor.ts";

const scope: CursorScope = { secret: new Uint8Array(32).fill(1), list: "intents", owner: "acct_a" };

test("D15 a cursor decodes for the list and owner it was encoded for", () => {
  assert.equal(decodeCursor(encodeCursor(12_345n, scope), scope), 12_345n);
});

test("D15 a cursor of another account, list or installation is invalid", () => {
  const cursor = encodeCursor(7n, scope);
  for (const other of [{ owner: "acct_b" }, { list: "deposits" }, { secret: new Uint8Array(32).fill(2) }]) {
    assert.equal(decodeCursor(cursor, { ...scope, ...other }), undefined);
  }
});

test("D15 a cursor with one bit flipped, cut or padded is invalid", () => {
  const cursor = encodeCursor(7n, scope);
  const bytes = Buffer.from(cursor, "base64url");
  for (let bit = 0; bit < bytes.length * 8; bit += 1) {
    const flipped = Buffer.from(bytes);
    flipped.writeUInt8(flipped.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
    assert.equal(decodeCursor(flipped.toString("base64url"), scope), undefined);
  }
  for (const text of ["", cursor.slice(1), `${cursor}=`, `${cursor}A`, "' or 1=1 --"])
    assert.equal(decodeCursor(text, scope), undefined);
});

test("D15 a cursor hides its sequence", () => {
  const [one, next] = [encodeCursor(1n, scope), encodeCursor(2n, scope)].map((cursor) =>
    Buffer.from(cursor, "base64url"),
  );
  assert.ok(one && next);
  const equalBytes = one.filter((byte, index) => byte === next[index]).length;
  assert.ok(equalBytes < one.length / 2, `${equalBytes} of ${one.length} bytes are equal in neighbouring cursors`);
});
