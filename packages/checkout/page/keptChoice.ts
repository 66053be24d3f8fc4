import type { OriginId } from "../src/checkoutState.ts";

// The origin that the payer chose, over reloads. A frame may have no storage: then the choice lasts as long as the
// page.

const keyOf = (intentId: string) => `tributary:${intentId}`;

export function readChoice(intentId: string): OriginId | null {
  try {
    return sessionStorage.getItem(keyOf(intentId));
  } catch {
    return null;
  }
}

export function keepChoice(intentId: string, originId: OriginId): void {
  try {
    sessionStorage.setItem(keyOf(intentId), originId);
  } catch {
    // It lasts as long as the page.
  }
}
