const CHARACTERS_MAX = 200;
const MAIL = /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+$/;

export const SUPPORT_EXPECTED = "an https:// URL without user and password, or a mail address";

/** The link of a support address: an https URL as it is, a mail address as mailto:. Undefined for any other text. */
export function parseSupportAddress(text: string): string | undefined {
  if (text.length > CHARACTERS_MAX || /[\s\p{C}]/u.test(text)) return undefined;
  const mail = text.replace(/^mailto:/, "");
  if (MAIL.test(mail)) return `mailto:${mail}`;
  const url = URL.parse(text);
  return url?.protocol === "https:" && url.username === "" && url.password === "" ? text : undefined;
}
