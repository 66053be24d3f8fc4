/** What was given for a parameter; null is a text that cannot be decoded. */
type RawQueryValue = string | null;

/** A parameter that was given twice is a list. */
export type RawQuery = Readonly<Record<string, RawQueryValue | readonly RawQueryValue[] | undefined>>;

/**
 * A query's parameters, each decoded; null where the text is no percent-encoded UTF-8. What the framework would make of such a text is
 * the text itself, and a search for it would find nothing and say nothing.
 */
export function parseQueryString(text: string): RawQuery {
  const query = Object.create(null) as Record<string, RawQueryValue | RawQueryValue[]>;
  for (const pair of text.split("&")) {
    if (pair === "") continue;
    const equals = pair.indexOf("=");
    const encodedName = equals === -1 ? pair : pair.slice(0, equals);
    const name = decode(encodedName) ?? encodedName;
    const value = equals === -1 ? "" : decode(pair.slice(equals + 1));
    const previous = query[name];
    if (previous === undefined) query[name] = value;
    else if (Array.isArray(previous)) previous.push(value);
    else query[name] = [previous, value];
  }
  return query;
}

function decode(text: string): RawQueryValue {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return null;
  }
}
