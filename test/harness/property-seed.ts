import fc from 'fast-check';

/*
 * Property tests draw the same examples in every run, so that a red run can be seen again. `PROPERTY_SEED=random` looks
 * for new ones, `PROPERTY_SEED=<number>` repeats what such a run named.
 */
const named = process.env.PROPERTY_SEED ?? '20261121';
const seed = named === 'random' ? Date.now() % 2 ** 31 : Number(named);
if (!Number.isInteger(seed)) throw new Error(`PROPERTY_SEED is not a number: ${named}`);

fc.configureGlobal({ seed });
