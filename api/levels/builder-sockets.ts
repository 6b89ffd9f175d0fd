import type { Hono } from 'hono';
import type { LimitOf } from '../limits/rate-limit.ts';
import { chainIdParam, PUBLIC_PREFIX, servedChain } from '../request.ts';
import { assertUpgrade, openSocket } from '../sockets/open-socket.ts';
import { assertKnownParameters, type LevelsDeps, openLevels, runFrames } from './levels.ts';
import { levelsQuery } from './levels-query.ts';
import { FRAMES_ALONE } from './send-frames.ts';

const PATH = `${PUBLIC_PREFIX}v1/evm/:chain_id/ws/`;

/**
 * Mounts what clients of a block builder read at its `/ws/pamm_quote_stream` and `/ws/pamm_price_levels`: frames alone,
 * without a `bye`. Opening one counts as a batch of quotes.
 */
export function mountBuilderSockets(app: Hono, limitOf: LimitOf, deps: LevelsDeps): void {
  app.get(`${PATH}pamm_quote_stream`, limitOf('batch'), async (c) => {
    const chainId = chainIdParam(c);
    assertKnownParameters(c, {});
    const { overrides } = servedChain(deps.takers, chainId);
    assertUpgrade(c);
    const feed = await overrides.open('builder', []);
    return openSocket(c, deps, (opened) => runFrames(feed, opened, FRAMES_ALONE), true);
  });
  app.get(`${PATH}pamm_price_levels`, limitOf('batch'), async (c) => {
    chainIdParam(c);
    const query = levelsQuery(c);
    assertUpgrade(c);
    return openLevels(c, deps, query, FRAMES_ALONE);
  });
}
