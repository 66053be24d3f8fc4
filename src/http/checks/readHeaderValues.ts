import type { IncomingMessage } from "node:http";

/**
 * Returns every value of a header; `name` is in lower case. Node's own `headers` would keep one of them or join them.
 */
export function readHeaderValues({ rawHeaders }: Pick<IncomingMessage, "rawHeaders">, name: string): string[] {
  return rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === name);
}
