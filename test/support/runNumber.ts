/** Names the environment variable with the number of a run of `npm run test:deep`. */
export const RUN_VARIABLE = "TRIBUTARY_DEEP_RUN";
