import { z } from 'zod';

/** Endpoint classes that are counted apart. */
export const LIMIT_CLASSES = ['listing', 'quote', 'batch', 'route', 'pamm'] as const;

export type LimitClass = (typeof LIMIT_CLASSES)[number];

const Quota = z.strictObject({ requests: z.int().positive(), windowSecs: z.int().positive() });

export type Quota = z.infer<typeof Quota>;

const ClassQuotas = z.strictObject({
  /** Per client address. */
  anonymous: Quota,
  /** Per Trading API key. */
  keyed: Quota,
});

const quotas = (anonymous: number, keyed: number, windowSecs = 10) => ({
  anonymous: { requests: anonymous, windowSecs },
  keyed: { requests: keyed, windowSecs },
});

/**
 * Request rates. A batch counts once whatever it names, so its quota is the lower one; a key does not raise listings.
 */
export const LimitsConfig = z.strictObject({
  enabled: z.boolean().default(true),
  listing: ClassQuotas.default(quotas(200, 200)),
  quote: ClassQuotas.default(quotas(300, 3_000)),
  batch: ClassQuotas.default(quotas(50, 500)),
  route: ClassQuotas.default(quotas(100, 1_000)),
  pamm: ClassQuotas.default(quotas(2_000, 2_000)),
  /** Keys not known to be valid that a client address may try; further ones do not reach the database. */
  keyTries: Quota.default({ requests: 50, windowSecs: 10 }),
});

export type LimitsConfig = z.infer<typeof LimitsConfig>;
