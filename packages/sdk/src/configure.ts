let configuredBaseUrl: string | undefined;

/**
 * Sets the service whose checkout `mount` opens, such as `https://pay.example`. The scripts that the service serves
 * know theirs.
 */
export function configure({ baseUrl }: { readonly baseUrl: string }): void {
  configuredBaseUrl = toBaseUrl(baseUrl);
}

/** The URL without a trailing slash. Throws a TypeError that names the option. */
export function findBaseUrl(option: string | undefined): string {
  const baseUrl = option === undefined ? configuredBaseUrl : toBaseUrl(option);
  if (baseUrl === undefined) throw TypeError("call configure first");
  return baseUrl;
}

function toBaseUrl(text: string): string {
  if (!/^https?:\/\/[^/]/.test(text)) throw TypeError(`baseUrl must be a URL, not ${text}`);
  return text.replace(/\/+$/, "");
}
