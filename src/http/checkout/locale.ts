/**
 * The locale of a page: the option if there are messages for it, else the first of the Accept-Language header that has
 * some, else English. A regional form falls back to its language.
 */
export function chooseLocale(
  wanted: { option: string | undefined; acceptLanguage: string | undefined },
  locales: readonly string[],
): string {
  const tags = [wanted.option ?? "", ...parseAcceptLanguage(wanted.acceptLanguage ?? "")];
  for (const tag of tags) {
    const lower = tag.toLowerCase();
    const match = locales.find(
      (locale) => lower === locale.toLowerCase() || lower.startsWith(`${locale.toLowerCase()}-`),
    );
    if (match !== undefined) return match;
  }
  return "en";
}

/** A header of more tags than any browser sends is cut. */
const TAGS_MAX = 20;

/** The language tags of the header, the most wanted first. */
function parseAcceptLanguage(header: string): string[] {
  const entries = header.split(",", TAGS_MAX).map((entry) => {
    const [tag = "", ...parameters] = entry.split(";").map((part) => part.trim());
    const quality = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
    return { tag, quality: quality === undefined ? 1 : Number(quality) };
  });
  return entries
    .filter(({ quality }) => quality > 0)
    .toSorted((one, other) => other.quality - one.quality)
    .map(({ tag }) => tag);
}
