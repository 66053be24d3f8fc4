export type OneShotCall = { to: string; data: string };

/** The JSON that a sender signs. No block after `lastBlock` may include it. `nth` distinguishes two transactions. */
export type OneShotBytes = { chain: string; payer: string; nth: string; call: OneShotCall; lastBlock: string };
