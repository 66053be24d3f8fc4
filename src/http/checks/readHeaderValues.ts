import type { IncomingMessage } from "node:http";

/**
 * Returns every value of a header; `name` is in lower case. Node's own `headers` would keep one of them or join them.
 */
export function readHeaderValues({ rawHeaders }: Pick<IncomingMessage, "rawHeaders">, name: string): string[] {
  const values: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const [field, value] = [rawHeaders[index], rawHeaders[index + 1]];
    if (value !== undefined && field?.length === name.length && field.toLowerCase() === name) values.push(value);
  }
  return values;
}
