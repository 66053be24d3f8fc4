/** A parameter's value; null when it cannot be decoded. */
type RawQueryValue = string | null;

/** A repeated parameter is a list. */
export type RawQuery = Readonly<Record<string, RawQueryValue | readonly RawQueryValue[] | undefined>>;

/**
 * Parses a query string. A value that is not percent-encoded UTF-8 becomes null. The framework would keep such a text
 * undecoded, and a search for it would silently find nothing.
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
  if (!/[%+]/.test(text)) return text;
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return null;
  }
}
