import { readFile } from "node:fs/promises";
import type { Command, CommandInput } from "../command.ts";
import { callOnce, CONFIG_OPTION } from "../operatorClient.ts";
import type { BrandOutput } from "../../operator/accountOperations.ts";
import { UsageError } from "../../operator/errors.ts";
import { formatFields, toJson } from "../../operator/process/terminal.ts";

const REMOVE = "none";

export const accountsBrand: Command = {
  name: "accounts brand",
  summary: `Change how an account's checkout looks. "${REMOVE}" removes a value; without options it shows them`,
  positionals: [{ name: "accountId", summary: "account id (acct_…)" }],
  options: {
    accent: {
      value: "COLOR",
      summary: "fill of the main button, such as #0f5470; the text on it is chosen for contrast",
    },
    "accent-dark": { value: "COLOR", summary: "the same for the dark theme; default the accent" },
    "radius-px": { value: "PX", summary: "radius of corners, 0 to 24" },
    font: { value: "NAMES", summary: 'fonts of the payer\'s device, such as "Inter, sans-serif"' },
    logo: { value: "FILE", summary: "PNG or SVG of at most 32 KiB" },
    support: { value: "ADDRESS", summary: "https:// URL or mail address that payers ask; default the service's" },
    ...CONFIG_OPTION,
  },
  examples: [
    'tributary accounts brand acct_3x7… --accent "#7a1f3d" --logo logo.svg',
    "tributary accounts brand acct_3x7…",
  ],
  run: runUpdate,
};

async function runUpdate(input: CommandInput): Promise<number> {
  const { positionals, values, terminal, asJson } = input;
  const brand = await callOnce(input, "accounts brand", {
    accountId: positionals[0],
    accent: orNull(values["accent"]),
    accentDark: orNull(values["accent-dark"]),
    radiusPx: orNull(values["radius-px"]),
    font: orNull(values["font"]),
    support: orNull(values["support"]),
    logo: await readLogo(orNull(values["logo"])),
  });
  if (asJson) terminal.out(toJson(brand));
  else for (const line of formatFields(terminal, toFields(brand))) terminal.out(line);
  return 0;
}

function orNull(value: string | undefined): string | null | undefined {
  return value === REMOVE ? null : value;
}

async function readLogo(file: string | null | undefined): Promise<string | null | undefined> {
  if (typeof file !== "string") return file;
  try {
    return (await readFile(file)).toString("base64");
  } catch (error) {
    throw new UsageError(
      `--logo: the file cannot be read (${error instanceof Error ? error.message : String(error)}).`,
    );
  }
}

function toFields(brand: BrandOutput): [string, string][] {
  const { accountId, accent, accentDark, radiusPx, font, support, logo } = brand;
  return [
    ["account", accountId],
    ["accent", accent ?? "the default"],
    ["accent, dark", accentDark ?? "the accent"],
    ["radius", radiusPx === null ? "the default" : `${radiusPx} px`],
    ["font", font ?? "the default"],
    ["logo", logo === null ? "none" : `${logo.type}, ${logo.bytes} bytes`],
    ["support", support ?? "the service's"],
  ];
}
