import { parseArgs, type ParseArgsConfig } from "node:util";

type Options = NonNullable<ParseArgsConfig["options"]>;
type Parsed<O extends Options> = ReturnType<typeof parseArgs<{ allowPositionals: true; options: O }>>;

const HELP = { help: { type: "boolean", short: "h" } } as const;

/**
 * Parses the arguments. `--help` prints the usage; a mistake prints one sentence and the usage. Both end the process.
 */
export function parseArguments<O extends Options>(options: O, usage: string): Parsed<O & typeof HELP> {
  const parsed = parse({ ...options, ...HELP }, usage);
  if ((parsed.values as { help?: boolean }).help !== true) return parsed;
  process.stdout.write(`${usage}\n`);
  process.exit(0);
}

function parse<O extends Options>(options: O, usage: string): Parsed<O> {
  try {
    return parseArgs({ allowPositionals: true, options });
  } catch (error) {
    // Node's later sentences give advice that does not apply here.
    const [firstSentence = ""] = (error instanceof Error ? error.message : String(error)).split(". ");
    return exitWithUsage(`${firstSentence}.`, usage);
  }
}

export function parseInteger(text: string, option: string, usage: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  return exitWithUsage(`--${option} must be a whole number, not ${text}.`, usage);
}

export function exitWithUsage(message: string, usage: string): never {
  process.stderr.write(`${message}\n\n${usage}\n`);
  process.exit(2);
}
