import type { Logo } from "../logo/logo.ts";

// How an account's checkout looks. The values become CSS, so each has a strict form and none is used as it was typed.
// Pure functions.

/** Null: the default. */
export type Brand = {
  /** `#rrggbb` in lower case. Only ever a fill, so that no choice makes text unreadable. */
  accent: string | null;
  /** For the dark theme; null: `accent` there too. */
  accentDark: string | null;
  radiusPx: number | null;
  /** Font names in quotes and generic families, separated by commas. */
  font: string | null;
  /** An https: or mailto: link. */
  support: string | null;
  logo: Logo | null;
};

export const RADIUS_PX_MAX = 24;

/** `#rgb` or `#rrggbb` as `#rrggbb` in lower case; undefined for any other text. */
export function parseColor(text: string): string | undefined {
  const digits = /^#([0-9a-f]{6}|[0-9a-f]{3})$/i.exec(text)?.[1]?.toLowerCase();
  if (digits === undefined) return undefined;
  return `#${digits.length === 6 ? digits : digits.replaceAll(/./g, "$&$&")}`;
}

const GENERIC_FAMILIES = ["serif", "sans-serif", "monospace", "system-ui", "ui-sans-serif", "ui-serif", "ui-rounded"];
const FONTS_MAX = 6;

/**
 * A list of font names, separated by commas, as CSS; undefined when one has other characters than letters, digits,
 * spaces and hyphens.
 */
export function parseFont(text: string): string | undefined {
  const names = text.split(",").map((name) => name.trim().replace(/^(["'])(.*)\1$/, "$2"));
  if (
    names.length > FONTS_MAX ||
    !names.every((name) => /^[\p{L}\p{N}](?:[\p{L}\p{N} -]{0,38}[\p{L}\p{N}])?$/u.test(name))
  )
    return undefined;
  return names.map((name) => (GENERIC_FAMILIES.includes(name) ? name : `"${name}"`)).join(", ");
}

/** The custom properties of a brand as one CSS rule; empty without any. */
export function brandCss(brand: Pick<Brand, "accent" | "accentDark" | "radiusPx" | "font">): string {
  const { accent, accentDark, radiusPx, font } = brand;
  const properties = [
    ...(accent === null ? [] : [`--tr-accent:${accent}`, `--tr-on-accent:${textColorOn(accent)}`]),
    ...(accentDark === null
      ? []
      : [`--tr-accent-dark:${accentDark}`, `--tr-on-accent-dark:${textColorOn(accentDark)}`]),
    ...(radiusPx === null ? [] : [`--tr-radius:${radiusPx}px`]),
    ...(font === null ? [] : [`--tr-font:${font}`]),
  ];
  return properties.length === 0 ? "" : `:root{${properties.join(";")}}`;
}

/** Black or white, whichever has more contrast on a fill by WCAG. One of them always has at least 4.58. */
export function textColorOn(color: string): "#000000" | "#ffffff" {
  const luminance = relativeLuminance(color);
  return (luminance + 0.05) ** 2 > 1.05 * 0.05 ? "#000000" : "#ffffff";
}

function relativeLuminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((start) => {
    const channel = Number.parseInt(color.slice(start, start + 2), 16) / 255;
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
