import assert from "node:assert/strict";
import { test } from "node:test";
import { createClient } from "@tributary/client";

test("a client takes a key from the environment as its type is, and refuses a missing one", () => {
  const environment: Readonly<Record<string, string | undefined>> = { KEY: "trib_test_x" };
  // The same lines as in the README, under the strict types of this project.
  const client = createClient({ baseUrl: "https://pay.example", apiKey: environment["KEY"] });
  assert.equal(typeof client.createPaymentIntent, "function");
  assert.throws(
    () => createClient({ baseUrl: "https://pay.example", apiKey: environment["OTHER"] }),
    /needs an apiKey/,
  );
});
