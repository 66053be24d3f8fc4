import { readFile } from "node:fs/promises";
import type { BrandOutput } from "../../operator/accountOperations.ts";
import { UsageError } from "../../operator/errors.ts";
import { formatFields } from "../../operator/process/terminal.ts";
import type { TypedFields } from "../operatorClient.ts";
import { operatorCommand } from "../operatorCommand.ts";

const REMOVE = "none";

export const accountsBrand = operatorCommand({
  operation: "accounts brand",
  summary: "change how an account's checkout looks",
  help: `Change how an account's checkout looks. "${REMOVE}" removes a value; without options it shows them`,
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
  },
  examples: [
    'tributary accounts brand acct_3x7… --accent "#7a1f3d" --logo logo.svg',
    "tributary accounts brand acct_3x7…",
  ],
  async prepare({ accountId, ...fields }) {
    const given = Object.entries(fields).map(([name, value]) => [name, value === REMOVE ? null : value] as const);
    const { logo, ...brand } = Object.fromEntries(given);
    return { accountId, ...brand, logo: await readLogo(logo) };
  },
  print: (brand, { terminal }) => formatFields(terminal, toFields(brand)),
});

async function readLogo(file: TypedFields[string]): Promise<TypedFields[string]> {
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
