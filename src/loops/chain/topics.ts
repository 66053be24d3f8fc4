import type { Chain } from "../../chain/chain.ts";

// What wakes the loops of settling and bridging.

export const TRACK_TOPIC = "crossings";

export const planTopic = ({ caip2 }: Chain) => `settlement plans:${caip2}`;
export const submitTopic = ({ caip2 }: Chain) => `settlement submissions:${caip2}`;
export const sendTopic = ({ caip2 }: Chain) => `outgoing transactions:${caip2}`;
export const receiveTopic = ({ caip2 }: Chain) => `crossings received:${caip2}`;
