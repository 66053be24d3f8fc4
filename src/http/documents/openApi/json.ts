/** A part of the document, which is plain JSON. */
export type Json = { readonly [name: string]: unknown };
