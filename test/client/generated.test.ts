import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { clientTypes } from "../../scripts/clientTypes.ts";

test("the generated client types match the document", () => {
  const file = new URL("../../packages/client/src/api.generated.ts", import.meta.url);
  assert.equal(readFileSync(file, "utf8"), clientTypes(), "run npm run generate -w @tributary/client");
});
