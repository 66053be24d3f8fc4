import assert from "node:assert/strict";
import { test } from "node:test";
import { judgeCorpus, scoreParts } from "./judge.ts";
import { readCorpus } from "./readCorpus.ts";

const TEXTS_MIN = 250;
const RIGHT_PERCENT_MIN = 95;

const corpus = readCorpus();
const judged = judgeCorpus(corpus);

test("the corpus has its texts once each, with their sources, and a fifth of them is held out", () => {
  assert.ok(corpus.length >= TEXTS_MIN, `${corpus.length} texts`);
  const keys = corpus.map(({ part, code, text, source }) => `${part} ${code} ${text} ${source}`);
  assert.deepEqual(
    keys.filter((key, index) => keys.indexOf(key) !== index),
    [],
  );
  const heldOut = corpus.filter(({ isHeldOut }) => isHeldOut).length / corpus.length;
  assert.ok(heldOut > 0.15 && heldOut < 0.25, `${heldOut}`);
});

test("no real error is taken for a wrong definite outcome", () => {
  const wrong = judged.filter(({ isWrongDefinite }) => isWrongDefinite);
  assert.deepEqual(
    wrong.map(({ code, text, meaning, verdict }) => `${code} ${text}: ${meaning} is taken as ${verdict}`),
    [],
  );
});

for (const { part, texts, right } of scoreParts(judged))
  test(`the errors of part "${part}" are taken as they are meant`, () =>
    assert.ok(100 * right >= RIGHT_PERCENT_MIN * texts, `${right} of ${texts}: npm run classifiers`));
