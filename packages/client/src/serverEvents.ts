/** One server-sent event. `data` is undefined where only the id moves. */
export type ServerEvent = { readonly id: string | undefined; readonly data: string | undefined };

/** Parses server-sent events, as the HTML standard has them. Comments, types and retry times are left out. */
export async function* readServerEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of chunks) {
    const blocks = (rest + decoder.decode(bytes, { stream: true })).replaceAll("\r\n", "\n").split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const event = parseBlock(block);
      if (event.id !== undefined || event.data !== undefined) yield event;
    }
  }
}

function parseBlock(block: string): ServerEvent {
  let id: string | undefined;
  const data: string[] = [];
  for (const line of block.split("\n")) {
    const [, name, value = ""] = /^([^:]*)(?:: ?(.*))?$/.exec(line) ?? [];
    if (name === "id") id = value;
    if (name === "data") data.push(value);
  }
  return { id, data: data.length === 0 ? undefined : data.join("\n") };
}
