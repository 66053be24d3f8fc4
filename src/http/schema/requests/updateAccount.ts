import { RADIUS_PX_MAX } from "../../../merchant/brand/brand.ts";
import type { JsonSchema } from "../jsonSchema.ts";

const FONT_CHARACTERS_MAX = 300;
const SUPPORT_CHARACTERS_MAX = 200;

const color = {
  type: ["string", "null"],
  pattern: "^#(?:[0-9a-fA-F]{6}|[0-9a-fA-F]{3})$",
  "x-must": "be a colour such as #0f5470, or null",
} as const;

const brand = {
  type: "object",
  description: "How the checkout looks. Null restores the default, and a missing field stays as it is.",
  properties: {
    accent: {
      ...color,
      description: "The fill of the main button. The service computes black or white for the text on it.",
      examples: ["#7a1f3d"],
    },
    accentDark: { ...color, description: "The same in the dark theme; the accent by default." },
    radius: {
      type: ["integer", "null"],
      minimum: 0,
      maximum: RADIUS_PX_MAX,
      description: "The radius of corners in CSS pixels.",
      examples: [12],
    },
    font: {
      type: ["string", "null"],
      minLength: 1,
      maxLength: FONT_CHARACTERS_MAX,
      description: "Up to 6 fonts of the payer's device, separated by commas. The page loads none.",
      examples: ["Inter, sans-serif"],
    },
    logo: {
      type: ["string", "null"],
      pattern: "^data:image/(?:png|svg\\+xml)[;,]",
      "x-must": "be a data: URL of a PNG or an SVG, or null",
      description:
        "A `data:` URL of a PNG of at most 1,024 × 1,024 pixels, or of an SVG; at most 32 KiB. The service stores only the parts that draw.",
      examples: ["data:image/svg+xml;base64,PHN2ZyB2aWV3Qm94PSIwIDAgMSAxIj48cGF0aCBkPSJNMCAwaDF2MXoiLz48L3N2Zz4="],
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const updateAccountBody = {
  type: "object",
  properties: {
    brand,
    support: {
      type: ["string", "null"],
      minLength: 1,
      maxLength: SUPPORT_CHARACTERS_MAX,
      description: "Whom payers ask: an https URL or a mail address. Null restores the service's own.",
      examples: ["help@shop.example"],
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;
