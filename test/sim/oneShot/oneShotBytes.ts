export type OneShotCall = { to: string; data: string };

/** What a sender signs, as JSON: no block after `lastBlock` may hold it. `nth` tells two transactions apart. */
export type OneShotBytes = { chain: string; payer: string; nth: string; call: OneShotCall; lastBlock: string };
