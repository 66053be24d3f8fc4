let configuredBaseUrl: string | undefined;

/**
 * Sets the service whose checkout `mount` opens, such as `https://pay.example`. The scripts that the service serves
 * know theirs.
 */
export function configure({ baseUrl }: { readonly baseUrl: string }): void {
  configuredBaseUrl = findBaseUrl(baseUrl);
}

/** The URL without a trailing slash. Throws a TypeError that names the option, also where it was never set. */
export function findBaseUrl(baseUrl: string | undefined = configuredBaseUrl): string {
  if (!baseUrl || !/^https?:\/\/[^/]/.test(baseUrl)) throw TypeError(`baseUrl must be a URL, not ${baseUrl}`);
  return baseUrl.replace(/\/+$/, "");
}
