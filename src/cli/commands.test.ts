import assert from "node:assert/strict";
import { test } from "node:test";
import { OPERATOR_OPERATIONS } from "../operator/runOperation.ts";
import { COMMANDS } from "./commands.ts";
import { fieldOf } from "./operatorCommand.ts";

/** What `intents import` and `doctor --ledger` call. */
const WITHOUT_COMMAND = ["intents search", "ledger check"];
/** Options that their commands use themselves. */
const OWN_OPTIONS = ["config", "service", "ledger", "follow", "watch", "format", "out"];

test("every operation of the operator has the command of its name", () => {
  const names = COMMANDS.map(({ name }) => name);
  assert.deepEqual(
    Object.keys(OPERATOR_OPERATIONS).filter((name) => !names.includes(name)),
    WITHOUT_COMMAND,
  );
  assert.equal(new Set(names).size, names.length);
});

test("every argument and option of such a command is a field of its operation", () => {
  const inputs = new Map(Object.entries(OPERATOR_OPERATIONS).map(([name, { input }]) => [name, Object.keys(input)]));
  const checked = COMMANDS.filter(
    ({ name }) => inputs.has(name) && name !== "doctor" && name !== "intents import" && name !== "ledger export",
  );
  for (const { name, positionals, options } of checked) {
    const given = [
      ...positionals.map((positional) => positional.name),
      ...Object.keys(options)
        .filter((option) => !OWN_OPTIONS.includes(option))
        .map(fieldOf),
    ];
    assert.deepEqual(
      given.filter((field) => inputs.get(name)?.includes(field) !== true),
      [],
      name,
    );
  }
  assert.ok(checked.length > 25);
});
