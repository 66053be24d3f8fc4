import type { IncomingMessage } from "node:http";

/** Every value of a header, as often as it was sent; `name` in lower case. Node would keep one of them, or join them. */
export function readHeaderValues({ rawHeaders }: Pick<IncomingMessage, "rawHeaders">, name: string): string[] {
  return rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === name);
}
