/** Longer texts are cut before the search; log lines are far shorter. */
const TEXT_LENGTH_MAX = 4_000;
/** A shorter path segment is a word such as "mainnet" and no key. */
const PATH_SECRET_LENGTH_MIN = 8;
const CREDENTIAL_LENGTH_MIN = 4;

/**
 * Creates a function that removes the secrets of the provider's URL from its texts. Some providers echo the path, and
 * their texts reach logs and the database.
 */
export function redactUrlSecrets(url: URL): (text: string) => string {
  const urlParts = [...url.pathname.split("/"), ...url.search.slice(1).split(/[&=]/)];
  const keys = [
    ...encodedVariants(urlParts).filter((part) => part.length >= PATH_SECRET_LENGTH_MIN),
    ...encodedVariants([url.username, url.password]).filter((part) => part.length >= CREDENTIAL_LENGTH_MIN),
  ].toSorted((one, other) => other.length - one.length);
  return (text) => keys.reduce((masked, key) => masked.replaceAll(key, "…"), text.slice(0, TEXT_LENGTH_MAX));
}

/** Each secret in encoded and in decoded form. */
function encodedVariants(parts: readonly string[]): string[] {
  return [...new Set(parts.flatMap((part) => [part, tryDecode(part)]))];
}

function tryDecode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
