/** Reads a body as UTF-8. Throws SyntaxError for one of more than `bytesMax` bytes. */
export async function readBoundedText(body: AsyncIterable<unknown>, bytesMax: number): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > bytesMax) throw new SyntaxError("the response is too long");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
