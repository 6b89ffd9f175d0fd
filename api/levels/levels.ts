import type { Context } from 'hono';
import { defineResource } from '../declaration/api-route.ts';
import { badRequest } from '../errors.ts';
import { setBlockHeaders } from '../http/block-headers.ts';
import { ReadyBody, sendReady } from '../http/ready-body.ts';
import { chainIdParam, servedChain } from '../request.ts';
import { isUpgrade, openSocket, type SocketDeps } from '../sockets/open-socket.ts';
import { runSession } from '../sockets/session.ts';
import { getPriceLevels, RawLevelsQuery } from './declaration.ts';
import { type LevelsQuery, levelsQuery } from './levels-query.ts';
import { OneState } from './one-state.ts';
import type { PriceLevels } from './price-levels.ts';
import { endFrames, sendFrames } from './send-frames.ts';
import type { TakersDeps } from './taker-calls.ts';

export type LevelsDeps = SocketDeps & TakersDeps;

/** `GET /public/v1/evm/{chain_id}/price_levels`, and the WebSocket at the same path. */
export const levelsResource = defineResource([getPriceLevels], (deps: LevelsDeps) => ({
  async getPriceLevels(c) {
    const chainParam = chainIdParam(c);
    const query = levelsQuery(c);
    const { chain, levels } = servedChain(deps.takers, chainParam);
    if (isUpgrade(c)) return openLevels(c, deps, levels, query);
    if (query.isPublic) {
      const { body, block } = await levels.readPublic(query);
      setBlockHeaders(c, block);
      return sendReady(c, body);
    }
    const read = new OneState(chain, query.basis).add(await levels.prepare(query, c.get('key') !== null));
    const { json, block } = await read();
    setBlockHeaders(c, block);
    return sendReady(c, new ReadyBody(json));
  },
}));

async function openLevels(c: Context, deps: LevelsDeps, levels: PriceLevels, query: LevelsQuery): Promise<Response> {
  const unknown = Object.keys(c.req.query()).find((name) => !Object.hasOwn(RawLevelsQuery.shape, name));
  // A key in a URL ends up in logs and histories.
  if (unknown !== undefined) throw badRequest('unknown parameter: a key goes in the Authorization header');
  const feed = await levels.open(query, c.get('key') !== null);
  return openSocket(c, deps, (opened) => {
    const { socket } = opened;
    const closed = sendFrames(feed, opened);
    return runSession(opened, { end: (reason) => endFrames(socket, reason), closed });
  });
}
