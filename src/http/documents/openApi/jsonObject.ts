/** A part of the document; plain JSON. */
export type JsonObject = { readonly [name: string]: unknown };
