/** `npm run test:soak`: minutes of each. Otherwise the short form, of which `.ci/run` has two minutes. */
export const IS_LONG = process.env.SOAK === 'long';

/** Seed of all random decisions: `SOAK_SEED`, or one of this file's run; printed. */
export const SOAK_SEED = Number(process.env.SOAK_SEED ?? Date.now() % 1_000_000_000);
process.stdout.write(`soak seed ${SOAK_SEED}\n`);
if (!Number.isSafeInteger(SOAK_SEED)) throw new Error(`SOAK_SEED is not a number: ${process.env.SOAK_SEED}`);
