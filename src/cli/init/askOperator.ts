import process from "node:process";
import { createInterface } from "node:readline";
import { UsageError } from "../../operator/errors.ts";
import type { CommandInput } from "../command.ts";
import { QUESTIONS, type AnyQuestion, type InitSettings } from "./settings.ts";

/** How often a question is asked before the command ends. */
const ATTEMPTS_MAX = 5;

type Input = Pick<CommandInput, "values" | "flags" | "terminal">;
/** The next line of standard input; undefined at its end. */
type ReadLine = () => Promise<string | undefined>;

/** Takes each setting from its option, else from standard input, else its default. Throws UsageError for what is missing or wrong. */
export async function readSettings(input: Input): Promise<InitSettings> {
  const lines = createInterface({ input: process.stdin });
  const iterator = lines[Symbol.asyncIterator]();
  const readLine: ReadLine = async () => {
    const { value, done } = await iterator.next();
    return done === true ? undefined : value;
  };
  try {
    const answers: Record<string, unknown> = {};
    for (const question of QUESTIONS)
      answers[question.name] = await answerQuestion(question, { input, answers, readLine });
    return answers as InitSettings;
  } finally {
    lines.close();
  }
}

type Context = { input: Input; answers: Partial<InitSettings>; readLine: ReadLine };

async function answerQuestion(question: AnyQuestion, { input, answers, readLine }: Context): Promise<unknown> {
  const given = input.values[question.option];
  const fallback = question.fallback(answers);
  if (given !== undefined || input.flags.has("yes")) {
    if (given === undefined && fallback === undefined)
      throw new UsageError(`--${question.option} is missing: give ${question.summary}.`);
    const parsed = question.parse(given ?? fallback ?? "", answers);
    if ("expected" in parsed)
      throw new UsageError(`--${question.option} must be ${parsed.expected.replace(/[.?]$/, "")}.`);
    return parsed.value;
  }
  for (let attempts = 0; attempts < ATTEMPTS_MAX; attempts += 1) {
    input.terminal.note(
      `${input.terminal.paint("bold", question.option)}: ${question.summary}${fallback === undefined ? "" : ` [${fallback}]`}`,
    );
    const line = await readLine();
    if (line === undefined) throw new UsageError(`No answer: give --${question.option}, or --yes for the defaults.`);
    const text = line.trim();
    if (text === "" && fallback === undefined) continue;
    const parsed = question.parse(text === "" ? (fallback ?? "") : text, answers);
    if ("value" in parsed) return parsed.value;
    input.terminal.note(input.terminal.paint("yellow", `Give ${parsed.expected.replace(/[.?]$/, "")}.`));
  }
  throw new UsageError(`${ATTEMPTS_MAX} answers were not accepted: give --${question.option}.`);
}
