/** Judges every table of classifiers by real texts: `npm run classifiers`. Exits with 1 below the goal. */
import process from "node:process";
import { formatTable } from "../../../src/cli/formatTable.ts";
import { judgeCorpus, scoreParts } from "./judge.ts";

const RIGHT_PERCENT_MIN = 95;

const judged = judgeCorpus();
const scores = scoreParts(judged);
const percent = (part: number, whole: number) => (whole === 0 ? "–" : `${((100 * part) / whole).toFixed(1)} %`);
const rows = scores.map(({ part, texts, right, heldOut, heldOutRight, wrong }) => [
  part,
  String(texts),
  percent(right, texts),
  percent(heldOutRight, heldOut),
  String(wrong),
]);
const head = ["part", "texts", "as meant", "of the fifth held out", "wrong definite"];
for (const line of formatTable([head, ...rows])) console.log(line);
console.log(`${judged.length} texts`);
for (const { part, meaning, verdict, code, text, source } of judged.filter((each) => !each.isRight && !each.isHeldOut))
  console.log(`${part}: ${meaning} is taken as ${verdict}: ${code} ${text.slice(0, 110)} (${source.slice(0, 60)})`);
if (scores.some(({ texts, right, wrong }) => wrong > 0 || 100 * right < RIGHT_PERCENT_MIN * texts))
  process.exitCode = 1;
