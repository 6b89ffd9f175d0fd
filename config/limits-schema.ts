import { z } from 'zod';
import { PositiveInt } from './scalars.ts';

/** Endpoint classes, each with a quota of its own. */
export const LIMIT_CLASSES = ['listing', 'quote', 'batch', 'route', 'history', 'pamm'] as const;

export type LimitClass = (typeof LIMIT_CLASSES)[number];

const Quota = z.strictObject({ requests: PositiveInt, windowSecs: PositiveInt });

export type Quota = z.infer<typeof Quota>;

const ClassQuotas = z.strictObject({
  anonymous: Quota,
  keyed: Quota,
});

const quotas = (anonymous: number, keyed: number, windowSecs = 10) => ({
  anonymous: { requests: anonymous, windowSecs },
  keyed: { requests: keyed, windowSecs },
});

/** Per client address (`anonymous`) and per Trading API key (`keyed`). */
export const LimitsConfig = z.strictObject({
  enabled: z.boolean().default(true).describe('`false` turns all of them off.'),
  listing: ClassQuotas.default(quotas(200, 200)).describe('Chains, metadata, trades.'),
  quote: ClassQuotas.default(quotas(300, 3_000)).describe('Quotes of one pool; opening a stream.'),
  batch: ClassQuotas.default(quotas(50, 500)).describe('Batch quotes, price levels, calls of takers.'),
  route: ClassQuotas.default(quotas(100, 1_000)).describe('Routes.'),
  history: ClassQuotas.default(quotas(60, 600)).describe('Bars and days of a pool; what listing sites read.'),
  pamm: ClassQuotas.default(quotas(2_000, 2_000)).describe('Quote updates; each whole 16 KiB of one count once more.'),
});

export type LimitsConfig = z.infer<typeof LimitsConfig>;
