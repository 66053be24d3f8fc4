/** A part of the document, which is plain JSON. */
export type JsonObject = { readonly [name: string]: unknown };
