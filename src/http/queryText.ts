/** What was given for a parameter; null is a text that cannot be decoded. */
type QueryValue = string | null;

/** A parameter that was given twice is a list. */
export type Query = Readonly<Record<string, QueryValue | readonly QueryValue[] | undefined>>;

/**
 * A query's parameters, each decoded; null where the text is no percent-encoded UTF-8. What the framework would make of such a text is
 * the text itself, and a search for it would find nothing and say nothing.
 */
export function parseQuery(text: string): Query {
  const query = Object.create(null) as Record<string, QueryValue | QueryValue[]>;
  for (const pair of text.split("&")) {
    if (pair === "") continue;
    const equals = pair.indexOf("=");
    const written = equals === -1 ? pair : pair.slice(0, equals);
    const name = decode(written) ?? written;
    const value = equals === -1 ? "" : decode(pair.slice(equals + 1));
    const others = query[name];
    if (others === undefined) query[name] = value;
    else if (Array.isArray(others)) others.push(value);
    else query[name] = [others, value];
  }
  return query;
}

function decode(text: string): QueryValue {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return null;
  }
}
