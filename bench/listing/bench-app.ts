import { Redis } from 'ioredis';
import { createApp } from '../../api/app.ts';
import { createLogger } from '../../runtime/logger.ts';
import { createMetrics } from '../../runtime/metrics.ts';
import { CHAINS_FILE } from './market.ts';

type Parts = Parameters<typeof createApp>;

/** The app with these routes, and pages to compare with; Redis is not connected. */
export const createBenchApp = (routes: Parts[0], pages: NonNullable<Parts[1]['pages']>) =>
  createApp(routes, {
    pages,
    verifyKey: async () => null,
    rateLimit: {
      limits: CHAINS_FILE.limits,
      redis: new Redis({ lazyConnect: true }),
      prefix: 'bench',
      trustedProxies: 0,
    },
    metrics: createMetrics('bench'),
    logger: createLogger('bench', 'error'),
  });
