import type { Context } from 'hono';
import { defineResource } from '../declaration/api-route.ts';
import { badRequest } from '../errors.ts';
import { setBlockHeaders } from '../http/block-headers.ts';
import { ReadyBody, sendReady } from '../http/ready-body.ts';
import { chainIdParam, servedChain } from '../request.ts';
import type { Connection } from '../sockets/connections.ts';
import { isUpgrade, type OpenSocket, openSocket, type SocketDeps } from '../sockets/open-socket.ts';
import { runSession } from '../sockets/session.ts';
import { getPriceLevels, RawLevelsQuery } from './declaration.ts';
import type { FrameFeed } from './frame-feed.ts';
import { type LevelsQuery, levelsQuery } from './levels-query.ts';
import { OneState } from './one-state.ts';
import { endFrames, type MessageForm, sendFrames } from './send-frames.ts';
import type { TakersDeps } from './taker-calls.ts';

export type LevelsDeps = SocketDeps & TakersDeps;

/** `GET /public/v1/evm/{chain_id}/price_levels`, and the WebSocket at the same path. */
export const levelsResource = defineResource([getPriceLevels], (deps: LevelsDeps) => ({
  async getPriceLevels(c) {
    const chainParam = chainIdParam(c);
    const query = levelsQuery(c);
    const { chain, levels } = servedChain(deps.takers, chainParam);
    if (isUpgrade(c)) return openLevels(c, deps, query);
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

/** Opens the WebSocket of a query. @throws ApiError 400, 404, 429, 503 */
export async function openLevels(
  c: Context,
  deps: LevelsDeps,
  query: LevelsQuery,
  form?: MessageForm,
): Promise<Response> {
  const { levels } = servedChain(deps.takers, chainIdParam(c));
  assertKnownParameters(c, RawLevelsQuery.shape);
  const feed = await levels.open(query, c.get('key') !== null);
  return openSocket(c, deps, (opened) => runFrames(feed, opened, form), true);
}

/** A key in a URL ends up in logs and histories. @throws ApiError 400 for a parameter that is not known */
export function assertKnownParameters(c: Context, known: object): void {
  if (Object.keys(c.req.query()).every((name) => Object.hasOwn(known, name))) return;
  throw badRequest('unknown parameter: a key goes in the Authorization header');
}

/** Sends the frames of a feed until the connection ends. @returns ends it */
export function runFrames(feed: FrameFeed, opened: OpenSocket, form?: MessageForm): Connection['end'] {
  const closed = sendFrames(feed, opened, form);
  return runSession(opened, { end: (reason) => endFrames(opened.socket, reason, form), closed });
}
