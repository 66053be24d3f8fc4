import process from "node:process";
import { createInterface } from "node:readline";
import { UsageError } from "../../operator/errors.ts";
import type { CommandInput } from "../command.ts";
import { PROMPTS, type AnyPrompt, type InitSettings } from "./settings.ts";

/** How often a prompt is asked before the command ends. */
const ATTEMPTS_MAX = 5;

type Input = Pick<CommandInput, "values" | "flags" | "terminal">;
/** The next line of standard input; undefined at its end. */
type ReadLine = () => Promise<string | undefined>;

/**
 * Takes each setting from its option, else from standard input, else its default. Throws UsageError for what is missing
 * or wrong.
 */
export async function readSettings(input: Input): Promise<InitSettings> {
  const lines = createInterface({ input: process.stdin });
  const iterator = lines[Symbol.asyncIterator]();
  const readLine: ReadLine = async () => {
    const { value, done } = await iterator.next();
    return done === true ? undefined : value;
  };
  try {
    const answers: Record<string, unknown> = {};
    for (const prompt of PROMPTS)
      if (isAsked(prompt, { input, answers }))
        answers[prompt.name] = await answerPrompt(prompt, { input, answers, readLine });
    return answers as InitSettings;
  } finally {
    lines.close();
  }
}

/** Throws UsageError for an option that the other settings leave without a meaning. */
function isAsked(prompt: AnyPrompt, { input, answers }: Omit<Context, "readLine">): boolean {
  if (prompt.isAsked?.(answers) !== false) return true;
  if (input.values[prompt.option] === undefined) return false;
  throw new UsageError(`--${prompt.option} has no meaning here: it is ${prompt.summary}.`);
}

type Context = { input: Input; answers: Partial<InitSettings>; readLine: ReadLine };

async function answerPrompt(prompt: AnyPrompt, { input, answers, readLine }: Context): Promise<unknown> {
  const given = input.values[prompt.option];
  const fallback = prompt.fallback(answers);
  if (given !== undefined || input.flags.has("yes")) {
    if (given === undefined && fallback === undefined)
      throw new UsageError(`--${prompt.option} is missing: give ${prompt.summary}.`);
    const parsed = prompt.parse(given ?? fallback ?? "", answers);
    if ("expected" in parsed)
      throw new UsageError(`--${prompt.option} must be ${parsed.expected.replace(/[.?]$/, "")}.`);
    return parsed.value;
  }
  for (let attempts = 0; attempts < ATTEMPTS_MAX; attempts += 1) {
    input.terminal.note(
      `${input.terminal.paint("bold", prompt.option)}: ${prompt.summary}${fallback === undefined ? "" : ` [${fallback}]`}`,
    );
    const line = await readLine();
    if (line === undefined) throw new UsageError(`No answer: give --${prompt.option}, or --yes for the defaults.`);
    const text = line.trim();
    if (text === "" && fallback === undefined) continue;
    const parsed = prompt.parse(text === "" ? (fallback ?? "") : text, answers);
    if ("value" in parsed) return parsed.value;
    input.terminal.note(input.terminal.paint("yellow", `Give ${parsed.expected.replace(/[.?]$/, "")}.`));
  }
  throw new UsageError(`${ATTEMPTS_MAX} answers were not accepted: give --${prompt.option}.`);
}
