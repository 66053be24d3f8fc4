/** Longer texts are cut before they are looked through; what is told of them is far shorter. */
const TEXT_LENGTH_MAX = 4_000;
/** A shorter part of a path is a word such as "mainnet", and no key. */
const PATH_SECRET_LENGTH_MIN = 8;
const CREDENTIAL_LENGTH_MIN = 4;

/**
 * Takes out of what a provider says whatever of its own URL may be a key: some repeat the path that they were asked for, and their words end
 * in logs and in the database.
 */
export function redactUrlSecrets(url: URL): (text: string) => string {
  const urlParts = [...url.pathname.split("/"), ...url.search.slice(1).split(/[&=]/)];
  const keys = [
    ...encodedVariants(urlParts).filter((part) => part.length >= PATH_SECRET_LENGTH_MIN),
    ...encodedVariants([url.username, url.password]).filter((part) => part.length >= CREDENTIAL_LENGTH_MIN),
  ].toSorted((one, other) => other.length - one.length);
  return (text) => keys.reduce((masked, key) => masked.replaceAll(key, "…"), text.slice(0, TEXT_LENGTH_MAX));
}

/** As they are written, and as they are meant. */
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
